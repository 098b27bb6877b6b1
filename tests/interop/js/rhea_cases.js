// AMQP 1.0 with rhea.
"use strict";
const assert = require("assert");
const rhea = require("rhea");
const { Mailbox, WAIT_MS, endpoint, main, name, pause, test, within } = require("./interop.js");

const at = (text) => "queue://" + name(text);
const event = (emitter, what, ...bad) =>
  within(new Promise((done, fail) => {
    emitter.once(what, done);
    for (const b of bad) emitter.once(b, (c) => fail(new Error(b + ": " + ((c.error || {}).message || c))));
  }), what);

async function connected(options = {}) {
  const container = rhea.create_container(options.id ? { id: options.id } : {});
  const connection = container.connect({ ...endpoint("amqp"), reconnect: false, ...options });
  await event(connection, "connection_open", "disconnected", "connection_error");
  connection.container = container;
  return connection;
}

async function closed(...connections) {
  for (const c of connections) {
    c.close();
    await event(c, "connection_close");
  }
}

async function sender(connection, address, options = {}) {
  const s = connection.open_sender({ target: address, ...options });
  s.setMaxListeners(0);
  await event(s, "sendable", "sender_error");
  return s;
}

// Sends, and waits for the outcome.
function sent(s, message) {
  return within(new Promise((done, fail) => {
    const delivery = s.send(message);
    for (const outcome of ["accepted", "rejected", "released", "modified"]) {
      s.on(outcome, (context) => {
        if (context.delivery === delivery) outcome === "accepted" ? done() : fail(new Error(outcome));
      });
    }
  }), "the outcome of a send");
}

// A receiver whose messages go to .box; without autoaccept they are settled by the case.
function receiver(connection, address, options = {}) {
  const r = connection.open_receiver({ source: address, credit_window: 0, autoaccept: false, ...options });
  r.box = new Mailbox();
  r.on("message", (context) => r.box.put(context));
  r.opened = event(r, "receiver_open", "receiver_error");
  if (!options.noCredit) r.add_credit(options.credit || 100);
  return r;
}

async function take(connection, address, count) {
  const r = receiver(connection, address, { credit: count || 1 });
  const got = [];
  for (const context of await r.box.many(count, "message")) {
    context.delivery.accept();
    got.push(context.message);
  }
  r.close();
  await event(r, "receiver_close");
  return got;
}

const bodies = {
  string: "grüß € 😀", "empty string": "", number: 42, double: 1.5, true: true, null: null,
  list: [1, "two", [true, null]], map: { a: 1, b: { c: "d" } },
  wrapped: rhea.types.wrap_ulong(7), symbol: rhea.types.wrap_symbol("sym"), uuid: rhea.generate_uuid(),
  timestamp: rhea.types.wrap_timestamp(1700000000000), binary: Buffer.from([0, 1, 255]),
  "long list": Array.from({ length: 500 }, (_, i) => "item" + i),
};
// What a body means, without the wrapper that says its type.
const plain = (v) => (v instanceof Date ? v.getTime() : v && v.constructor && v.constructor.name === "Typed" ? v.value : v);
for (const [label, body] of Object.entries(bodies)) {
  test("body_" + label.replace(" ", "_"), async () => {
    const c = await connected();
    await sent(await sender(c, at("body")), { body });
    const [m] = await take(c, at("body"), 1);
    assert.deepStrictEqual(plain(m.body), plain(body));
    await closed(c);
  });
}

test("data_sections", async () => {
  const c = await connected();
  const s = await sender(c, at("data"));
  await sent(s, { body: rhea.message.data_section(Buffer.alloc(100000, 7)) });
  const [m] = await take(c, at("data"), 1);
  assert.strictEqual(m.body.typecode, 0x75);
  assert.ok(m.body.content.equals(Buffer.alloc(100000, 7)));
  await closed(c);
});

test("several_data_sections", async () => {
  const c = await connected();
  const s = await sender(c, at("datas"));
  await sent(s, { body: rhea.message.data_sections([Buffer.from("one"), Buffer.from("two")]) });
  const [m] = await take(c, at("datas"), 1);
  assert.strictEqual(m.body.multiple, true);
  assert.deepStrictEqual(m.body.content.map(String), ["one", "two"]);
  await closed(c);
});

test("sequence_sections", async () => {
  const c = await connected();
  const s = await sender(c, at("sequence"));
  await sent(s, { body: rhea.message.sequence_section([1, "two"]) });
  const [m] = await take(c, at("sequence"), 1);
  assert.deepStrictEqual(m.body.content, [1, "two"]);
  await closed(c);
});

test("sections_travel", async () => {
  const c = await connected();
  const s = await sender(c, at("sections"));
  await sent(s, {
    durable: true, priority: 6, ttl: 60000, message_id: "m", user_id: Buffer.from("u"), to: "t", subject: "s",
    reply_to: "r", correlation_id: "c", content_type: "text/plain", content_encoding: "gzip", group_id: "g",
    group_sequence: 3, reply_to_group_id: "rg", application_properties: { colour: "red", n: 5 },
    message_annotations: { "x-opt-mine": "yes" }, footer: { "x-opt-foot": "note" }, body: "b",
  });
  const [m] = await take(c, at("sections"), 1);
  assert.deepStrictEqual([m.durable, m.priority, m.message_id, m.to, m.subject, m.reply_to, m.correlation_id,
    String(m.content_type), String(m.content_encoding), m.group_id, m.group_sequence, m.reply_to_group_id],
  [true, 6, "m", "t", "s", "r", "c", "text/plain", "gzip", "g", 3, "rg"]);
  assert.deepStrictEqual({ ...m.application_properties }, { colour: "red", n: 5 });
  assert.strictEqual(m.message_annotations["x-opt-mine"], "yes");
  assert.strictEqual(m.footer["x-opt-foot"], "note");
  await closed(c);
});

for (const size of [1, 4096, 1 << 20, 10 << 20]) {
  test("size_" + size, async () => {
    const c = await connected();
    const s = await sender(c, at("size"));
    await sent(s, { body: "x".repeat(size) });
    const [m] = await take(c, at("size"), 1);
    assert.strictEqual(m.body.length, size);
    await closed(c);
  });
}

test("small_frames", async () => {
  const c = await connected({ max_frame_size: 512 });
  const s = await sender(c, at("frames"));
  await sent(s, { body: "y".repeat(100000) });
  const [m] = await take(c, at("frames"), 1);
  assert.strictEqual(m.body, "y".repeat(100000));
  await closed(c);
});

test("no_sasl", async () => {
  const container = rhea.create_container();
  container.sasl_server_mechanisms = {};
  const c = container.connect({ ...endpoint("amqp"), reconnect: false });
  await event(c, "connection_open", "disconnected");
  await sent(await sender(c, at("nosasl")), { body: 1 });
  await closed(c);
});

test("sasl_anonymous", async () => {
  const container = rhea.create_container();
  const c = container.connect({ ...endpoint("amqp"), reconnect: false, username: "anonymous" });
  await event(c, "connection_open", "disconnected");
  await sent(await sender(c, at("anonymous")), { body: 1 });
  await closed(c);
});

test("settled_sends", async () => {
  const c = await connected();
  const s = await sender(c, at("settled"), { snd_settle_mode: 1 });
  for (let i = 0; i < 50; ++i) s.send({ body: i });
  assert.deepStrictEqual((await take(c, at("settled"), 50)).map((m) => m.body), [...Array(50).keys()]);
  await closed(c);
});

test("settled_deliveries", async () => {
  const c = await connected();
  await sent(await sender(c, at("presettled")), { body: 1 });
  const r = receiver(c, at("presettled"), { snd_settle_mode: 1 });
  const context = await r.box.next("message");
  assert.strictEqual(context.delivery.remote_settled, true);
  await closed(c);
});

test("release_and_modify", async () => {
  const c = await connected();
  await sent(await sender(c, at("outcomes")), { body: 1 });
  const r = receiver(c, at("outcomes"), { credit: 1 });
  let context = await r.box.next("message");
  context.delivery.release();
  r.add_credit(1);
  context = await r.box.next("message after release");
  assert.strictEqual(context.message.delivery_count || 0, 0);
  context.delivery.modified({ delivery_failed: true });
  r.add_credit(1);
  context = await r.box.next("message after modified");
  assert.strictEqual(context.message.delivery_count, 1);
  context.delivery.accept();
  await closed(c);
});

test("reject", async () => {
  const c = await connected();
  await sent(await sender(c, at("reject")), { body: 1 });
  const r = receiver(c, at("reject"), { credit: 2 });
  (await r.box.next("message")).delivery.reject({ condition: "amqp:decode-error", description: "no" });
  await r.box.nothing("after a reject");
  await closed(c);
});

test("undeliverable_here", async () => {
  const c = await connected();
  await sent(await sender(c, at("here")), { body: 1 });
  const r = receiver(c, at("here"), { credit: 5 });
  (await r.box.next("message")).delivery.modified({ delivery_failed: true, undeliverable_here: true });
  await r.box.nothing("at the link that said so");
  await closed(c);
});

test("second_settlement_mode", async () => {
  const c = await connected();
  await sent(await sender(c, at("second")), { body: 1 });
  const r = receiver(c, at("second"), { rcv_settle_mode: 1 });
  const context = await r.box.next("message");
  const settled = event(r, "settled");
  context.delivery.update(false, rhea.message.accepted().described());
  await settled;
  r.close();
  await event(r, "receiver_close");
  const again = receiver(c, at("second"));
  await again.box.nothing("what was accepted");
  await closed(c);
});

test("credit", async () => {
  const c = await connected();
  const s = await sender(c, at("credit"));
  for (let i = 0; i < 8; ++i) await sent(s, { body: i });
  const r = receiver(c, at("credit"), { credit: 3 });
  await r.box.many(3, "message");
  await r.box.nothing("beyond the credit");
  r.add_credit(2);
  await r.box.many(2, "message");
  await r.box.nothing("beyond the credit");
  await closed(c);
});

test("drain", async () => {
  const c = await connected();
  const s = await sender(c, at("drain"));
  for (let i = 0; i < 3; ++i) await sent(s, { body: i });
  const r = receiver(c, at("drain"), { noCredit: true });
  await r.opened;
  const drained = event(r, "receiver_drained");
  r.drain = true;
  r.add_credit(10);
  await drained;
  assert.strictEqual(r.box.items.length, 3);
  r.drain = false;
  await sent(s, { body: 3 });
  await r.box.many(3, "message");
  await r.box.nothing("the credit is gone after a drain");
  r.add_credit(1);
  assert.strictEqual((await r.box.next("message after a drain")).message.body, 3);
  await closed(c);
});

test("drain_of_an_empty_queue", async () => {
  const c = await connected();
  const r = receiver(c, at("drain0"), { noCredit: true });
  await r.opened;
  const drained = event(r, "receiver_drained");
  r.drain = true;
  r.add_credit(5);
  await drained;
  await closed(c);
});

test("echo_of_a_flow", async () => {
  const c = await connected();
  const r = receiver(c, at("echo"), { noCredit: true });
  await r.opened;
  const flowed = event(r, "receiver_flow");
  r.session.output(flow(r));
  await flowed;
  await closed(c);
});

// A flow of the link that asks for one back.
function flow(r) {
  const frames = require("rhea/lib/frames.js");
  const { incoming, outgoing } = r.session;
  const fields = { next_incoming_id: incoming.next_transfer_id >>> 0, incoming_window: incoming.window,
    next_outgoing_id: outgoing.next_transfer_id >>> 0, outgoing_window: outgoing.window,
    handle: r.local.handle, delivery_count: 0, link_credit: 5, echo: true };
  return frames.flow(fields);
}

test("selector", async () => {
  const c = await connected();
  const s = await sender(c, at("selector"));
  for (let i = 0; i < 6; ++i) await sent(s, { body: i, application_properties: { colour: i % 2 ? "red" : "blue" } });
  const r = receiver(c, { address: at("selector"), filter: rhea.filter.selector("colour = 'red'") });
  assert.deepStrictEqual((await r.box.many(3, "message")).map((x) => x.message.body), [1, 3, 5]);
  await r.box.nothing("not selected");
  await closed(c);
});

test("browse", async () => {
  const c = await connected();
  const s = await sender(c, at("browse"));
  for (let i = 0; i < 4; ++i) await sent(s, { body: i });
  const r = receiver(c, { address: at("browse"), distribution_mode: "copy" });
  assert.deepStrictEqual((await r.box.many(4, "message")).map((x) => x.message.body), [0, 1, 2, 3]);
  r.close();
  await event(r, "receiver_close");
  assert.strictEqual((await take(c, at("browse"), 4)).length, 4);
  await closed(c);
});

test("topic", async () => {
  const c = await connected();
  const topic = "topic://it/" + name("topic");
  const one = receiver(c, topic), two = receiver(c, topic);
  await one.opened;
  await two.opened;
  const s = await sender(c, topic);
  for (let i = 0; i < 5; ++i) await sent(s, { body: i });
  for (const r of [one, two]) {
    assert.deepStrictEqual((await r.box.many(5, "message")).map((x) => x.message.body), [0, 1, 2, 3, 4]);
  }
  await closed(c);
});

test("durable_subscription", async () => {
  const topic = "topic://it/" + name("durable");
  const options = { name: "sub", source: { address: topic, durable: 2, expiry_policy: "never" } };
  let c = await connected({ container_id: name("rhea-durable") });
  let r = receiver(c, options.source, { name: "sub" });
  await r.opened;
  r.detach();
  await event(r, "receiver_close");
  await sent(await sender(c, topic), { body: "while away", durable: true });
  await closed(c);
  c = await connected({ container_id: name("rhea-durable") });
  r = receiver(c, options.source, { name: "sub" });
  assert.strictEqual((await r.box.next("message")).message.body, "while away");
  r.close();
  await event(r, "receiver_close");
  await closed(c);
});

test("dynamic_node", async () => {
  const c = await connected();
  const r = receiver(c, { dynamic: true });
  await r.opened;
  assert.ok(r.remote.attach.source.address);
  await sent(await sender(c, r.remote.attach.source.address), { body: "dyn" });
  assert.strictEqual((await r.box.next("message")).message.body, "dyn");
  await closed(c);
});

test("request_and_reply", async () => {
  const service = await connected();
  const relay = await sender(service, null, { target: {} });
  const requests = receiver(service, at("service"));
  requests.on("message", (context) => {
    context.delivery.accept();
    relay.send({ to: context.message.reply_to, correlation_id: context.message.correlation_id,
      body: context.message.body.toUpperCase() });
  });
  const c = await connected();
  const replies = receiver(c, { dynamic: true });
  await replies.opened;
  const s = await sender(c, at("service"));
  for (let i = 0; i < 20; ++i) {
    await sent(s, { body: "hello" + i, reply_to: replies.remote.attach.source.address, correlation_id: "c" + i });
    const reply = (await replies.box.next("reply")).message;
    assert.deepStrictEqual([reply.body, reply.correlation_id], ["HELLO" + i, "c" + i]);
  }
  await closed(c, service);
});

test("link_names_are_of_a_connection", async () => {
  const a = await connected(), b = await connected();
  const one = receiver(a, at("names1"), { name: "same" }), two = receiver(b, at("names2"), { name: "same" });
  await one.opened;
  await two.opened;
  await closed(a, b);
});

test("several_sessions", async () => {
  const c = await connected();
  for (let i = 0; i < 5; ++i) {
    const session = c.create_session();
    session.begin();
    const s = session.open_sender(at("sessions"));
    await event(s, "sendable", "sender_error");
    await sent(s, { body: i });
    session.close();
    await event(session, "session_close");
  }
  assert.strictEqual((await take(c, at("sessions"), 5)).length, 5);
  await closed(c);
});

test("idle_time_out", async () => {
  const c = await connected({ idle_time_out: 400 });
  await pause(1500);
  await sent(await sender(c, at("idle")), { body: 1 });
  await closed(c);
});

test("reconnect", async () => {
  const container = rhea.create_container();
  const c = container.connect({ ...endpoint("amqp"), initial_reconnect_delay: 10 });
  await event(c, "connection_open");
  const r = receiver(c, at("reconnect"));
  await r.opened;
  const again = event(c, "connection_open");
  c.socket.destroy(new Error("cut"));
  await again;
  r.add_credit(5);
  const other = await connected();
  await sent(await sender(other, at("reconnect")), { body: "after" });
  assert.strictEqual((await r.box.next("message")).message.body, "after");
  await closed(other);
  c.set_reconnect && c.set_reconnect(false);
  await closed(c);
});

test("many_messages", async () => {
  const c = await connected();
  const s = await sender(c, at("many"));
  let accepted = 0, next = 0;
  await within(new Promise((done) => {
    const more = () => {
      while (next < 3000 && s.sendable()) s.send({ body: next++ });
    };
    s.on("accepted", () => (++accepted === 3000 ? done() : more()));
    s.on("sendable", more);
    more();
  }), "3000 accepted", 3 * WAIT_MS);
  const r = receiver(c, at("many"), { noCredit: true, credit_window: 100 });
  for (let i = 0; i < 3000; ++i) {
    const context = await r.box.next("message " + i);
    assert.strictEqual(context.message.body, i);
    context.delivery.accept();
  }
  await closed(c);
});

main();
