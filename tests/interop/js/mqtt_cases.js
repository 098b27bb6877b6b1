// MQTT 3.1.1 and 5 with MQTT.js.
"use strict";
const assert = require("assert");
const mqtt = require("mqtt");
const { Mailbox, Skipped, endpoint, main, name, pause, test, within } = require("./interop.js");

const { host, port } = endpoint("mqtt");
const topic = (text) => "it/" + name(text);

async function connected(options = {}, url = `mqtt://${host}:${port}`) {
  const client = mqtt.connect(url, { reconnectPeriod: 0, connectTimeout: 20000, clean: true, protocolVersion: 4, ...options });
  client.box = new Mailbox();
  client.on("message", (t, payload, packet) => client.box.put({ topic: t, text: payload.toString(), packet }));
  await within(new Promise((done, fail) => {
    client.once("connect", (packet) => done((client.connack = packet)));
    client.once("error", fail);
    client.once("close", () => fail(new Error("closed")));
  }), "a connection");
  return client;
}
const closed = (...clients) => Promise.all(clients.map((c) => within(c.endAsync(), "the end")));

for (const version of [4, 5]) {
  const versioned = (label, run) => test(`v${version}_${label}`, () => run({ protocolVersion: version }));

  for (const qos of [0, 1, 2]) {
    versioned(`qos_${qos}`, async (v) => {
      const c = await connected(v);
      await c.subscribeAsync(topic("qos"), { qos });
      for (let i = 0; i < 20; ++i) await c.publishAsync(topic("qos"), "m" + i, { qos });
      const got = await c.box.many(20, "message");
      assert.deepStrictEqual(got.map((m) => m.text), Array.from({ length: 20 }, (_, i) => "m" + i));
      assert.ok(got.every((m) => m.packet.qos === qos));
      await closed(c);
    });
  }

  versioned("large_payload", async (v) => {
    const c = await connected(v);
    await c.subscribeAsync(topic("large"), { qos: 1 });
    await c.publishAsync(topic("large"), Buffer.alloc(3 << 20, 65), { qos: 1 });
    assert.strictEqual((await c.box.next("message")).text.length, 3 << 20);
    await closed(c);
  });

  versioned("durable_session", async (v) => {
    const id = name("js-durable" + version);
    const durable = version === 5 ? { clean: false, properties: { sessionExpiryInterval: 600 } } : { clean: false };
    let c = await connected({ ...v, ...durable, clientId: id });
    assert.strictEqual(c.connack.sessionPresent, false);
    await c.subscribeAsync(topic("durable" + version), { qos: 2 });
    await closed(c);
    const other = await connected(v);
    for (let i = 0; i < 5; ++i) await other.publishAsync(topic("durable" + version), "d" + i, { qos: 1 + (i % 2) });
    await closed(other);
    c = await connected({ ...v, ...durable, clientId: id });
    assert.strictEqual(c.connack.sessionPresent, true);
    // Each quality of service has its order: the client shows one of 2 when it is released.
    const texts = (await c.box.many(5, "message")).map((m) => m.text);
    assert.deepStrictEqual(texts.filter((t) => "d0 d2 d4".includes(t)), ["d0", "d2", "d4"]);
    assert.deepStrictEqual(texts.filter((t) => "d1 d3".includes(t)), ["d1", "d3"]);
    await closed(c);
    await closed(await connected({ ...v, clean: true, clientId: id }));
  });

  versioned("retained", async (v) => {
    const c = await connected(v);
    await c.publishAsync(topic("retained"), "kept" + version, { qos: 1, retain: true });
    await c.subscribeAsync(topic("retained"), { qos: 1 });
    const m = await c.box.next("retained message");
    assert.deepStrictEqual([m.text, m.packet.retain], ["kept" + version, true]);
    await c.publishAsync(topic("retained"), "", { qos: 1, retain: true });
    await c.box.next("the empty one");
    await closed(c);
    const d = await connected(v);
    await d.subscribeAsync(topic("retained"), { qos: 1 });
    await d.box.nothing("after its removal");
    await closed(d);
  });

  versioned("will", async (v) => {
    const watcher = await connected(v);
    await watcher.subscribeAsync(topic("will"), { qos: 1 });
    const c = await connected({ ...v, will: { topic: topic("will"), payload: "gone", qos: 1 } });
    c.stream.destroy();
    assert.strictEqual((await watcher.box.next("will")).text, "gone");
    const d = await connected({ ...v, will: { topic: topic("will"), payload: "never", qos: 1 } });
    await closed(d);
    await watcher.box.nothing("will of a client that said good-bye");
    await closed(watcher);
  });

  versioned("wildcards", async (v) => {
    const c = await connected(v);
    await c.subscribeAsync([topic("w/+/x"), topic("w/deep/#")], { qos: 1 });
    for (const t of ["w/a/x", "w/a/y", "w/deep", "w/deep/er/still"]) await c.publishAsync(topic(t), t, { qos: 1 });
    const got = (await c.box.many(3, "message")).map((m) => m.text).sort();
    assert.deepStrictEqual(got, ["w/a/x", "w/deep", "w/deep/er/still"]);
    await c.box.nothing("not matched");
    await closed(c);
  });

  versioned("unsubscribe", async (v) => {
    const c = await connected(v);
    await c.subscribeAsync(topic("unsub"), { qos: 1 });
    await c.unsubscribeAsync(topic("unsub"));
    await c.publishAsync(topic("unsub"), "x", { qos: 1 });
    await c.box.nothing("after unsubscribing");
    await closed(c);
  });

  versioned("takeover", async (v) => {
    const id = name("js-take");
    const first = await connected({ ...v, clientId: id });
    const gone = within(new Promise((done) => first.once("close", done)), "the first to be closed");
    const second = await connected({ ...v, clientId: id });
    await gone;
    await second.publishAsync(topic("take"), "x", { qos: 1 });
    await closed(second);
  });

  versioned("websocket", async (v) => {
    const at = process.env.INTEROP_WS;
    if (!at) throw new Skipped("the broker has no WebSocket listener");
    const c = await connected(v, `ws://${at}/mqtt`);
    await c.subscribeAsync(topic("ws"), { qos: 1 });
    await c.publishAsync(topic("ws"), "over ws " + "x".repeat(70000), { qos: 1 });
    assert.strictEqual((await c.box.next("message")).text.length, 70008);
    await closed(c);
  });

  versioned("keep_alive", async (v) => {
    const c = await connected({ ...v, keepalive: 1 });
    await pause(2500);
    await c.publishAsync(topic("alive"), "x", { qos: 1 });
    await closed(c);
  });
}

const five = (label, run) => test("v5_" + label, () => run({ protocolVersion: 5 }));

five("properties", async (v) => {
  const c = await connected(v);
  await c.subscribeAsync(topic("props"), { qos: 1, properties: { subscriptionIdentifier: 77 } });
  const properties = { payloadFormatIndicator: true, messageExpiryInterval: 100, contentType: "text/plain",
    responseTopic: "reply/here", correlationData: Buffer.from([1, 0, 2]), userProperties: { a: ["1", "2"], b: "3" } };
  await c.publishAsync(topic("props"), "p", { qos: 1, properties });
  const got = (await c.box.next("message")).packet.properties;
  assert.deepStrictEqual([got.payloadFormatIndicator, got.contentType, got.responseTopic, got.subscriptionIdentifier],
    [true, "text/plain", "reply/here", 77]);
  assert.ok(got.messageExpiryInterval > 0 && got.messageExpiryInterval <= 100);
  assert.ok(got.correlationData.equals(properties.correlationData));
  assert.deepStrictEqual({ ...got.userProperties }, { a: ["1", "2"], b: "3" });
  await closed(c);
});

five("subscription_options", async (v) => {
  const c = await connected(v);
  await c.publishAsync(topic("options"), "old", { qos: 1, retain: true });
  await c.subscribeAsync(topic("options"), { qos: 1, nl: true, rap: true, rh: 2 });
  await c.publishAsync(topic("options"), "mine", { qos: 1 });
  await c.box.nothing("no local, no retained");
  const other = await connected(v);
  await other.publishAsync(topic("options"), "theirs", { qos: 1, retain: true });
  const m = await c.box.next("message");
  assert.deepStrictEqual([m.text, m.packet.retain], ["theirs", true]);
  await other.publishAsync(topic("options"), "", { qos: 1, retain: true });
  await closed(c, other);
});

five("shared_subscription", async (v) => {
  const members = await Promise.all([0, 1, 2].map(() => connected(v)));
  let got = 0;
  const all = new Mailbox();
  for (const m of members) {
    await m.subscribeAsync("$share/team/" + topic("shared"), { qos: 1 });
    m.on("message", (t, p) => { ++got; all.put(p.toString()); });
  }
  const c = await connected(v);
  for (let i = 0; i < 30; ++i) await c.publishAsync(topic("shared"), "" + i, { qos: 1 });
  const texts = (await all.many(30, "message")).map(Number).sort((a, b) => a - b);
  assert.deepStrictEqual(texts, [...Array(30).keys()]);
  await all.nothing("more than once");
  await closed(c, ...members);
});

five("topic_alias", async (v) => {
  const c = await connected({ ...v, properties: { topicAliasMaximum: 5 } });
  const max = (c.connack.properties || {}).topicAliasMaximum || 0;
  assert.ok(max > 0, "the server takes no aliases");
  await c.subscribeAsync(topic("alias"), { qos: 1 });
  await c.publishAsync(topic("alias"), "1", { qos: 1, properties: { topicAlias: 1 } });
  await c.publishAsync("", "2", { qos: 1, properties: { topicAlias: 1 } });
  const got = await c.box.many(2, "message");
  assert.deepStrictEqual(got.map((m) => m.text), ["1", "2"]);
  await closed(c);
});

five("receive_maximum", async (v) => {
  const publisher = await connected(v);
  const c = await connected({ ...v, properties: { receiveMaximum: 2 }, manualConnect: false });
  await c.subscribeAsync(topic("max"), { qos: 1 });
  for (let i = 0; i < 20; ++i) await publisher.publishAsync(topic("max"), "" + i, { qos: 1 });
  assert.strictEqual((await c.box.many(20, "message")).length, 20);
  await closed(c, publisher);
});

five("will_delay", async (v) => {
  const watcher = await connected(v);
  await watcher.subscribeAsync(topic("delay"), { qos: 1 });
  const c = await connected({ ...v, clientId: name("js-will"), clean: true, properties: { sessionExpiryInterval: 60 },
    will: { topic: topic("delay"), payload: "late", qos: 1, properties: { willDelayInterval: 1 } } });
  const cut = Date.now();
  c.stream.destroy();
  assert.strictEqual((await watcher.box.next("will")).text, "late");
  assert.ok(Date.now() - cut >= 900, `after ${Date.now() - cut} ms`);
  await closed(watcher);
});

five("message_expiry", async (v) => {
  const id = name("js-expiry");
  const durable = { ...v, clientId: id, clean: false, properties: { sessionExpiryInterval: 600 } };
  let c = await connected(durable);
  await c.subscribeAsync(topic("expiry"), { qos: 1 });
  await closed(c);
  const other = await connected(v);
  await other.publishAsync(topic("expiry"), "short", { qos: 1, properties: { messageExpiryInterval: 1 } });
  await other.publishAsync(topic("expiry"), "long", { qos: 1, properties: { messageExpiryInterval: 100 } });
  await pause(1300);
  c = await connected(durable);
  assert.strictEqual((await c.box.next("message")).text, "long");
  await c.box.nothing("the expired one");
  await closed(c, other);
});

five("assigned_client_identifier", async (v) => {
  const c = await connected({ ...v, clientId: "" });
  assert.ok(c.connack.properties.assignedClientIdentifier);
  await closed(c);
});

five("reason_of_takeover", async (v) => {
  const first = await connected({ ...v, clientId: name("js-reason") });
  const reason = within(new Promise((done) => first.once("disconnect", done)), "a DISCONNECT");
  const second = await connected({ ...v, clientId: name("js-reason") });
  assert.strictEqual((await reason).reasonCode, 0x8e);
  await closed(second);
});

five("no_subscription_existed", async (v) => {
  const c = await connected(v);
  const granted = await c.unsubscribeAsync(topic("never"));
  assert.deepStrictEqual(granted.granted || granted.reasonCode || [17], [17]);
  await closed(c);
});

test("v3_1", async () => {
  const c = await connected({ protocolId: "MQIsdp", protocolVersion: 3 });
  await c.subscribeAsync(topic("v31"), { qos: 1 });
  await c.publishAsync(topic("v31"), "x", { qos: 1 });
  assert.strictEqual((await c.box.next("message")).text, "x");
  await closed(c);
});

test("reconnect_of_the_client", async () => {
  const c = await connected({ reconnectPeriod: 50, clean: false, clientId: name("js-again") });
  await c.subscribeAsync(topic("again"), { qos: 1 });
  const again = within(new Promise((done) => c.once("connect", done)), "the connection again");
  c.stream.destroy();
  await again;
  await c.publishAsync(topic("again"), "x", { qos: 1 });
  assert.strictEqual((await c.box.next("message")).text, "x");
  await closed(c);
});

main();
