// An MQTT client for kill.py: kill_worker.js put|get TOPIC PREFIX PORTS_FILE. QoS 1 on a durable session.
"use strict";
const fs = require("fs");
const mqtt = require("mqtt");

const [role, topic, prefix, file] = process.argv.slice(2);
const say = (text) => fs.writeSync(1, text + "\n");
let stops = false;
process.stdin.on("end", () => { stops = true; setTimeout(() => process.exit(0), 200); }).resume();

function connected() {
  const { mqtt: port } = JSON.parse(fs.readFileSync(file));
  return new Promise((done, fail) => {
    const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
      reconnectPeriod: 0, connectTimeout: 3000, clean: false, clientId: "kill-" + prefix, protocolVersion: 4,
    });
    // An acknowledgement goes out when this has returned: then it counts as got.
    client.on("message", (t, payload) => setImmediate(() => say("maybe " + payload + "\ngot " + payload)));
    client.once("connect", () => done(client));
    client.once("error", fail);
    client.once("close", () => fail(new Error("closed")));
  });
}

async function main() {
  let number = 0;
  while (!stops) {
    try {
      const client = await connected();
      const gone = new Promise((_, fail) => client.once("close", () => fail(new Error("closed"))));
      gone.catch(() => {});
      if (role === "get") {
        await Promise.race([client.subscribeAsync(topic, { qos: 1 }), gone]);
        say("ready");
        await gone;
      }
      while (!stops) {
        const text = `${prefix}-${++number}`;
        await Promise.race([client.publishAsync(topic, text, { qos: 1 }), gone]);
        say("put " + text);
      }
    } catch (error) {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
main();
