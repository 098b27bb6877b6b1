// What the JavaScript suites share: the broker's place, names, waiting, and a runner of cases
// (interop.py says how).
"use strict";
const WAIT_MS = 20000;
const QUIET_MS = 300;
const RUN = process.env.INTEROP_RUN || "x";
const cases = [];

function endpoint(protocol) {
  const text = process.env["INTEROP_" + protocol.toUpperCase()];
  const at = text.lastIndexOf(":");
  return { host: text.slice(0, at), port: Number(text.slice(at + 1)) };
}

class Skipped extends Error {}

const test = (name, run) => cases.push({ name, run });
const name = (text) => `IT.${RUN}.${text}`.slice(0, 48);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function within(promise, what, ms = WAIT_MS) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`in ${ms} ms never: ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// A queue of events with waiting: put() on one side, await next() on the other.
class Mailbox {
  constructor() {
    this.items = [];
    this.waiting = [];
  }
  put(item) {
    const one = this.waiting.shift();
    if (one) one(item);
    else this.items.push(item);
  }
  next(what, ms = WAIT_MS) {
    if (this.items.length) return Promise.resolve(this.items.shift());
    let got;
    const coming = new Promise((done) => {
      got = done;
      this.waiting.push(done);
    });
    return within(coming, what, ms).catch((error) => {
      this.waiting = this.waiting.filter((w) => w !== got);
      throw error;
    });
  }
  async many(count, what) {
    const all = [];
    for (let i = 0; i < count; ++i) all.push(await this.next(`${what} ${i + 1} of ${count}`));
    return all;
  }
  async nothing(what, ms = QUIET_MS) {
    await pause(ms);
    if (this.items.length) throw new Error(`${what}: there was one: ${String(this.items[0])}`);
  }
}

async function main() {
  const wanted = process.argv[2] || "";
  let failed = false;
  process.on("uncaughtException", (error) => {
    console.log("FAILED uncaught\n" + error.stack);
    process.exit(1);
  });
  for (const one of cases.filter((c) => c.name.includes(wanted))) {
    const started = Date.now();
    try {
      await within(one.run(), "the end of the case", 3 * WAIT_MS);
      console.log(`ok ${one.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    } catch (error) {
      if (error instanceof Skipped) console.log(`skipped ${one.name}: ${error.message}`);
      else {
        failed = true;
        console.log(`FAILED ${one.name}\n${error.stack}`);
      }
    }
  }
  process.exit(failed ? 1 : 0);
}

module.exports = { WAIT_MS, Mailbox, Skipped, endpoint, main, name, pause, test, within,
                   isOurs: Boolean(process.env.INTEROP_ADMIN) };
