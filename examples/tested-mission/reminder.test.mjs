// The tests of reminder.yaml with node:test: `npm install @keelson/client js-yaml`, and `keelson` on the path. node --test
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { after } from "node:test";
import { TestServer } from "@keelson/client/testing";
import { load } from "js-yaml";

const MISSION = load(readFileSync(new URL("reminder.yaml", import.meta.url), "utf8"));
const server = await TestServer.start();
after(() => server.stop());

test("the customer is reminded after a week", async t => {
  const keelson = await server.begin(t);
  await keelson.model("Dear Ada, please pay.");
  const mail = (await keelson.tool("mail.send")).returns("sent");
  const run = await keelson.start(MISSION, { customer: "Ada" });
  await keelson.step(run, "paid", "waiting");

  await keelson.advance({ days: 7 });

  assert.equal((await keelson.end(run)).state, "completed");
  assert.deepEqual(mail.calls.map(call => call.input.text), ["Dear Ada, please pay."]);
});

test("the mail has one effect when its worker crashes", async t => {
  const keelson = await server.begin(t);
  await keelson.model("Please pay.");
  const mail = (await keelson.tool("mail.send")).returns("sent", "sent");
  await keelson.fault("crash_before_report", "mail.send");
  const run = await keelson.start(MISSION, { customer: "Ada" });
  await keelson.step(run, "paid", "waiting");
  await keelson.advance({ days: 7 });
  await keelson.until(() => mail.calls.length === 1);

  await keelson.advance({ ms: 60_000 });

  assert.equal((await keelson.end(run)).state, "completed");
  assert.equal(mail.calls.length, 2);
  assert.equal(mail.effects.size, 1);
});

test("the mail is sent once when its report is lost", async t => {
  const keelson = await server.begin(t);
  await keelson.model("Please pay.");
  const mail = (await keelson.tool("mail.send")).returns("sent");
  await keelson.fault("report_lost", "mail.send");
  const run = await keelson.start(MISSION, { customer: "Ada" });
  await keelson.step(run, "paid", "waiting");

  await keelson.advance({ days: 7 });

  assert.equal((await keelson.end(run)).state, "completed");
  assert.equal(mail.calls.length, 1);
});

test("the reminder survives a failure of the provider", async t => {
  const keelson = await server.begin(t);
  await keelson.model("Please pay.");
  await keelson.fault("provider_500");
  (await keelson.tool("mail.send")).returns("sent");
  const run = await keelson.start(MISSION, { customer: "Ada" });
  await keelson.step(run, "paid", "waiting");
  await keelson.advance({ days: 7 });
  await keelson.event(run, "step_deferred");

  await keelson.advance({ ms: 60_000 });

  assert.equal((await keelson.end(run)).state, "completed");
  assert.equal((await keelson.questions()).length, 2);
});
