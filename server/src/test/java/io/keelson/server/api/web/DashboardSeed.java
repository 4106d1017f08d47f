package io.keelson.server.api.web;

import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.json.Json;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

/** Runs for the dashboard's tests: usual ones, large ones, absurd ones. */
final class DashboardSeed {

    private static final String HOSTILE =
            "<img src=x onerror=canary=1></script><svg onload=canary=1> javascript:canary=1 \ud83d\ude80";

    private final ApiServer api;

    DashboardSeed(ApiServer api) {
        this.api = api;
    }

    /** Waits for a person before its last two tasks. */
    String releaseTrain() {
        String id = api
                .create("""
                {"name": "release-train", "start": true, "goal": "Ship version 4.2 to everyone",
                 "config": {"budget": {"hard_limit_usd": 5}}, "tags": ["weekly"], "plan": {"tasks": [
                  {"id": "build", "title": "Build", "steps": [{"name": "compile", "tool": "noop", "input": {"cost": 0.4}}]},
                  {"id": "pages", "title": "Translate pages", "depends_on": ["build"], "for_each": "${ [range(12)] }",
                   "steps": [{"name": "translate", "tool": "noop", "input": {"cost": 0.02}}]},
                  {"id": "approve", "title": "Sign off", "depends_on": ["pages"], "steps": [
                    {"name": "sign-off", "kind": "approval", "input": {"question": "Ship version 4.2 to everyone?"}}]},
                  {"id": "ship", "title": "Ship", "depends_on": ["approve"], "steps": [{"name": "go", "tool": "echo"}]},
                  {"id": "announce", "title": "Announce", "depends_on": ["ship"], "steps": [{"name": "tell", "tool": "echo"}]}]}}""");
        awaitWaiting(id);
        return id;
    }

    String waiting(String name) {
        String id = api.create("""
                {"name": "%s", "start": true, "plan": {"tasks": [{"id": "ask", "title": "Ask", "steps": [
                  {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""".formatted(name));
        api.awaitState(id, "running");
        return id;
    }

    /** Its plan waits for an approval. */
    String approvedPlan() {
        String id = api
                .create("""
                {"name": "release-notes", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
                  {"id": "research", "title": "Research the changes", "steps": [{"name": "look", "tool": "echo"}]},
                  {"id": "notes", "title": "Translate the notes", "depends_on": ["research"], "steps": [{"name": "write", "tool": "echo"}]}]}}""");
        awaitWaiting(id);
        return id;
    }

    /** Inputs of each type that the form has a field for. */
    String recipe() {
        return recipe("print-" + UUID.randomUUID());
    }

    String recipe(String name) {
        return api.post("/api/v1/recipes",
                """
                {"name": "%s", "goal": "Print a letter", "inputs": {
                  "to": {"type": "string", "default": "ann", "description": "Who gets it"},
                  "copies": {"type": "integer", "minimum": 1, "maximum": 100},
                  "urgent": {"type": "boolean", "default": false}, "colour": {"enum": ["black", "red"], "default": "black"},
                  "names": {"type": "array", "items": {"type": "string"}, "default": []},
                  "more": {"type": "object", "default": {}}},
                 "plan": {"tasks": [{"id": "print", "title": "Print", "steps": [{"tool": "echo", "input": {"n": "${ .inputs.copies }"}}]}]}}"""
                        .formatted(name))
                .json().get("id").asString();
    }

    String failing() {
        String id = api.create("""
                {"name": "invoice-import", "start": true, "config": {"escalation": {"enabled": false}}, "plan": {"tasks": [
                  {"id": "read", "title": "Read the invoices", "steps": [{"name": "ask", "tool": "fail", "input": {
                   "code": "SOURCE_DOWN", "message": "the source does not answer", "class": "permanent"}}]}]}}""");
        api.awaitState(id, "failed");
        return id;
    }

    /** What a usual day leaves behind: done, failed, waiting for each kind of thing. */
    void day() {
        for (int i = 0; i < 18; i++) {
            String[] names =
                    {"nightly-report", "index-docs", "crawl-sitemap", "weekly-digest", "price-watch", "translate-all"};
            api.create("""
                    {"name": "%s", "start": true, "tags": ["nightly"], "plan": {"tasks": [
                      {"id": "collect", "title": "Collect", "steps": [{"tool": "noop", "input": {"cost": %s}}]},
                      {"id": "write", "title": "Write", "depends_on": ["collect"], "steps": [{"tool": "echo"}]}]}}"""
                    .formatted(names[i % names.length], "0.0" + (i % 7 + 1)));
        }
        failing();
        waitsFor("paid-order", "signal.wait", "{\"name\": \"paid\"}");
        waitsFor("weekly-digest", "wait", "{\"seconds\": 90000}");
        waitsFor("price-watch", "fail", "{\"code\": \"RATE_LIMITED\", \"message\": \"429 of the shop\", \"times\": 5}");
    }

    private void waitsFor(String name, String tool, String input) {
        api.create("""
                {"name": "%s", "start": true, "plan": {"tasks": [{"id": "watch", "title": "Watch", "steps": [{"name": "watch", "tool": "%s",
                  "input": %s, "retry": {"max_attempts": 5, "base_delay_seconds": 600, "max_delay_seconds": 3000}}]},
                  {"id": "tell", "title": "Tell", "depends_on": ["watch"], "steps": [{"tool": "echo"}]}]}}"""
                .formatted(name, tool, input));
    }

    /** What the pages of a workspace show besides runs: a board, schedules, agents, a webhook, a worker. */
    void work(String recipe) {
        String[][] tasks = {{"Answer the customer from Lyon", "in_progress", "high", "ann"},
                {"Order paper for the printer", "inbox", "low", ""},
                {"Check the translation of chapter 3", "review", "medium", "ben"},
                {"Renew the certificate", "assigned", "urgent", "ann"},
                {"Send the invoices of October", "done", "medium", "ben"}};
        for (String[] task : tasks) {
            made(api.post("/api/v1/board/tasks",
                    """
                    {"title": "%s", "status": "%s", "priority": "%s", "tags": ["office"]%s}""".formatted(task[0],
                            task[1], task[2], task[3].isEmpty() ? "" : ", \"assignee\": \"" + task[3] + "\"")));
        }
        made(api.post("/api/v1/schedules", """
                {"name": "nightly-report", "cron": "30 2 * * *", "time_zone": "Europe/Berlin", "recipe": "%s",
                 "inputs": {"copies": 2}}""".formatted(recipe)));
        made(api.post("/api/v1/schedules",
                """
                {"name": "price-watch", "cron": "0 */6 * * *", "mission": {"name": "price-watch", "plan": {"tasks": []}}}"""));
        made(api.post("/api/v1/schedules",
                """
                {"name": "weekly-digest", "cron": "0 6 * * 1", "paused": true, "mission": {"name": "digest", "plan": {"tasks": []}}}"""));
        made(api.post("/api/v1/agents", """
                {"slug": "librarian", "name": "Librarian", "description": "Finds licences and their texts", "model": "small",
                 "tools": ["files.read", "files.search"], "capabilities": ["research"]}"""));
        made(api.post("/api/v1/webhooks",
                """
                {"url": "http://127.0.0.1:9/hook", "description": "The office's alarm", "events": ["run.failed"], "enabled": false}"""));
        ApiServer.Answer claimed = api.post("/api/v1/dispatch/claim",
                """
                {"worker_id": "worker-7.example", "tools": ["shop.order", "shop.refund"], "max": 4, "version": "1.4.0"}""");
        if (claimed.status() != 200) {
            throw new AssertionError(claimed.text());
        }
    }

    private static void made(ApiServer.Answer answer) {
        if (answer.status() != 201) {
            throw new AssertionError(answer.text());
        }
    }

    /** One fan-out. */
    String wide(int tasks) {
        return api
                .create("""
                {"name": "crawl-sitemap", "start": true, "plan": {"tasks": [{"id": "page", "title": "Page",
                  "for_each": "${ [range(%d)] }", "steps": [{"name": "pause", "tool": "wait", "input": {"seconds": 90000}}]}]}}"""
                        .formatted(tasks));
    }

    /** Texts as an attacker or a cat on the keyboard would write them. */
    void absurd() {
        String name = Json.string(HOSTILE).toString();
        api.create("""
                {"name": %s, "goal": %s, "start": true, "tags": [%s], "plan": {"tasks": [{"id": "a", "title": %s, "description": %s,
                 "steps": [{"name": "s", "tool": "echo", "input": {"text": %s}},
                  {"name": "w", "tool": "artifact.write", "input": {"name": "x.svg", "content": %s}},
                  {"name": "f", "tool": "fail", "input": {"code": "X", "message": %s, "class": "permanent"}}]}]}}"""
                .formatted(name, name, name, name, name, name, name, name));
        String longest = "Donaudampfschifffahrtsgesellschaftskapit\u00e4n".repeat(4);
        api.create("""
                {"name": "%s", "start": true, "plan": {"tasks": [%s]}}""".formatted(longest, IntStream.range(0, 30)
                .mapToObj(i -> "{\"id\": \"t%d\", \"title\": \"%s %d\", \"steps\": [{\"tool\": \"echo\"}]}"
                        .formatted(i, longest, i))
                .collect(Collectors.joining(","))));
    }

    /** An agent whose first output is rejected, with calls of all outcomes. The second attempt is in its second turn. */
    String agent() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"agent.turn\"]}");
        String id = api
                .create("""
                {"name": "licence-review", "goal": "Which licences are in this repository?", "start": true, "config": {"retry": {"backoff_base_seconds": 0}},
                 "plan": {"tasks": [{"id": "research", "title": "Research the licences",
                   "verify": [{"kind": "jq", "expression": ".source != null", "feedback": "no source named"}],
                   "suggested_agent": {"type": "contractor", "agent_name": "librarian", "tools": ["echo", "noop", "fail"],
                    "instructions": "Name the source.", "max_turns": 9}},
                  {"id": "write", "title": "Write the summary", "depends_on": ["research"], "steps": [{"tool": "echo"}]}]}}""");
        turn("""
                {"text": "I will look for licences first, then read each of them.", "tool_calls": [
                  {"name": "echo", "input": {"path": ".", "pattern": "LICENSE"}}, {"name": "http.request", "input": {"url": "https://example.org"}},
                  {"name": "fail", "input": {"code": "FILE_UNREADABLE", "message": "NOTICE is not text", "class": "permanent"}}]}""");
        turn("{\"output\": {\"licences\": [\"Apache-2.0\"]}}");
        turn("""
                {"text": "The verifier wants a source: I read the file again.", "tool_calls": [{"name": "echo", "input": {"path": "LICENSE", "lines": 12}}]}""");
        return id;
    }

    private void turn(String output) {
        JsonNode item = api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"w\", \"tools\": [\"agent.turn\"], \"wait_ms\": 20000, \"lease_ms\": 600000}").json()
                .at("/items/0");
        api.post("/api/v1/dispatch/complete",
                "{\"worker_id\": \"w\", \"items\": [{\"step_id\": %s, \"lease_epoch\": %s, \"output\": %s}]}"
                        .formatted(item.get("step_id"), item.get("lease_epoch"), output));
    }

    private void awaitWaiting(String id) {
        await(api, id);
    }

    /** Waits until the run waits for a person. */
    static void await(ApiServer api, String id) {
        Awaitility.await().until(() -> api.get("/api/v1/inbox?run_id=" + id).json().get("items").size() > 0);
    }
}
