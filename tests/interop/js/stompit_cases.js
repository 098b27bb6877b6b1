// STOMP with stompit.
"use strict";
const assert = require("assert");
const stompit = require("stompit");
const { Mailbox, endpoint, main, name, test, within } = require("./interop.js");

const { host, port } = endpoint("stomp");
const at = (text) => "/queue/" + name("stompit-" + text);

function connected(headers = {}) {
  return within(new Promise((done, fail) => {
    stompit.connect({ host, port, connectHeaders: { host: "/", ...headers } }, (error, client) =>
      error ? fail(error) : done(client));
  }), "a connection");
}

function sent(client, headers, body) {
  return within(new Promise((done, fail) => {
    const frame = client.send({ ...headers }, { onReceipt: done });
    frame.on("error", fail);
    frame.end(body);
  }), "a receipt");
}

function subscribed(client, headers) {
  const box = new Mailbox();
  box.subscription = client.subscribe({ ack: "auto", ...headers }, (error, message) => {
    if (error) return box.put(error);
    const parts = [];
    message.on("data", (part) => parts.push(part));
    message.on("end", () => box.put({ headers: message.headers, body: Buffer.concat(parts), message }));
  });
  return box;
}

const closed = (client) => within(new Promise((done, fail) => client.disconnect((e) => (e ? fail(e) : done()))), "the end");

test("send_and_receive", async () => {
  const c = await connected();
  const box = subscribed(c, { destination: at("simple") });
  await sent(c, { destination: at("simple"), "content-type": "text/plain" }, "hello");
  const m = await box.next("message");
  assert.deepStrictEqual([m.body.toString(), m.headers["content-type"]], ["hello", "text/plain"]);
  await closed(c);
});

test("binary_body_with_nul", async () => {
  const c = await connected();
  const body = Buffer.alloc(300000, 0).map((_, i) => i & 0xff);
  const box = subscribed(c, { destination: at("binary") });
  await sent(c, { destination: at("binary"), "content-length": body.length }, body);
  assert.ok((await box.next("message")).body.equals(body));
  await closed(c);
});

test("headers_with_special_characters", async () => {
  const c = await connected();
  const box = subscribed(c, { destination: at("escape") });
  const value = "colon:back\\slash\nnew line";
  await sent(c, { destination: at("escape"), "my-header": value }, "x");
  assert.strictEqual((await box.next("message")).headers["my-header"], value);
  await closed(c);
});

for (const mode of ["client", "client-individual"]) {
  test("ack_" + mode, async () => {
    let c = await connected();
    for (let i = 0; i < 3; ++i) await sent(c, { destination: at(mode) }, "" + i);
    let box = subscribed(c, { destination: at(mode), ack: mode });
    const got = await box.many(3, "message");
    c.ack(got[1].message);
    await closed(c);
    c = await connected();
    box = subscribed(c, { destination: at(mode) });
    const left = mode === "client" ? ["2"] : ["0", "2"];
    assert.deepStrictEqual((await box.many(left.length, "message")).map((m) => String(m.body)), left);
    await box.nothing("acknowledged");
    await closed(c);
  });
}

test("transactions", async () => {
  const c = await connected();
  const box = subscribed(c, { destination: at("tx") });
  let t = c.begin();
  t.send({ destination: at("tx") }).end("aborted");
  t.abort();
  t = c.begin();
  t.send({ destination: at("tx") }).end("one");
  t.send({ destination: at("tx") }).end("two");
  await box.nothing("before the commit");
  t.commit();
  assert.deepStrictEqual((await box.many(2, "message")).map((m) => String(m.body)), ["one", "two"]);
  await closed(c);
});

test("topic", async () => {
  const a = await connected(), b = await connected();
  const topic = "/topic/it/" + name("stompit");
  const one = subscribed(a, { destination: topic }), two = subscribed(b, { destination: topic });
  await sent(a, { destination: at("sync") }, "x");
  await sent(b, { destination: at("sync") }, "x");
  await sent(a, { destination: topic }, "news");
  assert.strictEqual(String((await one.next("message")).body), "news");
  assert.strictEqual(String((await two.next("message")).body), "news");
  await closed(a);
  await closed(b);
});

test("selector", async () => {
  const c = await connected();
  const box = subscribed(c, { destination: at("selector"), selector: "colour = 'red'" });
  for (const colour of ["blue", "red", "green"]) await sent(c, { destination: at("selector"), colour }, colour);
  assert.strictEqual(String((await box.next("message")).body), "red");
  await box.nothing("not selected");
  await closed(c);
});

test("heart_beats", async () => {
  const c = await connected({ "heart-beat": "200,200" });
  await new Promise((done) => setTimeout(done, 1500));
  await sent(c, { destination: at("beat") }, "alive");
  await closed(c);
});

main();
