package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Proposals of steps to people: recorded with the results, answered at any time. */
@Breadth.Spread
class ProposalApiTest {

    private static final String API = "/api/v1";
    private static final String PROPOSES = """
            {"name": "proposes", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
              {"name": "suggest", "tool": "proposal.create", "input": {"title": "Raise it", "body": "to 12",
               "data": {"sku": "A"}, "expires_in_seconds": 86400}}]}]}}""";
    private static final String PROPOSES_AND_WAITS = """
            {"name": "waits", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
              {"name": "suggest", "tool": "proposal.create", "input": {"title": "First"}},
              {"name": "sign-off", "kind": "approval", "input": {}}]}]}}""";

    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void aRunIsCompletedWithoutAnAnswerWhichMayComeLater() {
        String run = api.create(PROPOSES);
        api.awaitState(run, "completed");
        JsonNode proposal = proposals("?run_id=" + run).getFirst();
        String id = proposal.get("id").stringValue();

        assertThat(proposal.get("state").stringValue()).isEqualTo("pending");
        assertThat(proposal.get("title").stringValue()).isEqualTo("Raise it");
        assertThat(proposal.get("body").stringValue()).isEqualTo("to 12");
        assertThat(proposal.get("data").get("sku").stringValue()).isEqualTo("A");
        assertThat(proposal.get("expires_at").isString()).isTrue();
        assertThat(proposal.get("step_name").stringValue()).isEqualTo("suggest");
        JsonNode status = api.get("/runs/" + run + "/status").json();
        assertThat(status.get("proposals_created")).hasSize(1);
        assertThat(status.get("proposals_created").get(0).stringValue()).isEqualTo("prop_" + id);
        assertThat(api.get(API + "/runs/" + run + "/steps").json().at("/items/0/output/proposal_id").stringValue())
                .isEqualTo("prop_" + id);
        assertThat(event(run, "proposal_created").get("step_id")).isEqualTo(proposal.get("step_id"));
        assertThat(api.get("/runs/" + run + "/events/stream").text()).contains("event: proposal.created",
                "\"proposalId\":\"prop_" + id + "\"");
        Answer pending = api.get("/proposals/pending?run_id=" + run);
        assertThat(pending.json().get("items").get(0)).isEqualTo(proposal);
        assertThat(api.get("/proposals/pending?run_id=" + run, "If-None-Match", pending.header("ETag")).status())
                .isEqualTo(304);
        JsonNode item = api.get(API + "/inbox?kind=proposal&run_id=" + run).json().get("items").get(0);
        assertThat(item.get("id").stringValue()).isEqualTo("prop_" + id);
        assertThat(item.get("question").stringValue()).isEqualTo("Raise it");
        assertThat(item.get("due_at")).isEqualTo(proposal.get("expires_at"));

        JsonNode accepted = post("/proposals/prop_" + id + "/accept", "{\"reason\": \"do it\"}", 200);

        assertThat(accepted.get("state").stringValue()).isEqualTo("accepted");
        assertThat(accepted.get("reason").stringValue()).isEqualTo("do it");
        JsonNode event = event(run, "proposal_accepted");
        assertThat(event.get("payload").get("reason").stringValue()).isEqualTo("do it");
        assertThat(event.get("payload").get("accepted_by")).isEqualTo(accepted.get("decided_by"));
        assertThat(event.get("actor_type").stringValue()).isEqualTo("human");
        assertThat(post("/proposals/" + id + "/accept", "{}", 200)).isEqualTo(accepted);
        post("/inbox/prop_" + id + "/accept", "{}", 200);
        for (String door : List.of("/proposals/", "/inbox/prop_")) {
            assertThat(post(door + id + "/reject", "{}", 409).get("code").stringValue())
                    .isEqualTo("PROPOSAL_NOT_PENDING");
        }
        assertThat(api.get(API + "/inbox?run_id=" + run).json().get("items")).isEmpty();
        assertThat(proposals("/pending?run_id=" + run)).isEmpty();
        assertThat(api.get("/runs/" + run + "/status").json()).isEqualTo(status);
    }

    @Test
    void proposalIsRejectedInTheInbox() {
        String run = api.create(PROPOSES_AND_WAITS);
        Awaitility.await().until(() -> !proposals("?run_id=" + run).isEmpty());
        JsonNode item = api.get(API + "/inbox?kind=proposal&run_id=" + run).json().get("items").get(0);

        post(item.get("links").get("reject").stringValue().substring(API.length()), "{\"reason\": \"no\"}", 200);

        JsonNode rejected = api.get(item.get("links").get("subject").stringValue()).json();
        assertThat(rejected.get("state").stringValue()).isEqualTo("rejected");
        assertThat(rejected.get("reason").stringValue()).isEqualTo("no");
        api.post(API + "/runs/" + run + "/cancel", "");
        assertThat(proposals("?state=rejected&run_id=" + run)).hasSize(1);
    }

    @Test
    void cancelledRunWithdrawsItsProposal() {
        String run = api.create(PROPOSES_AND_WAITS);
        Awaitility.await().until(() -> !proposals("?run_id=" + run).isEmpty());
        String id = proposals("?run_id=" + run).getFirst().get("id").stringValue();

        api.post(API + "/runs/" + run + "/cancel", "");

        assertThat(proposals("?state=withdrawn&run_id=" + run)).hasSize(1);
        assertThat(event(run, "proposal_withdrawn").get("payload").get("proposal_id").stringValue()).isEqualTo(id);
        post("/proposals/" + id + "/accept", "{}", 409);
        assertThat(api.get(API + "/inbox?run_id=" + run).json().get("items")).isEmpty();
    }

    @Test
    void proposalExpires() {
        String run = api.create(PROPOSES);
        api.awaitState(run, "completed");
        String id = proposals("?run_id=" + run).getFirst().get("id").stringValue();

        api.sql("update proposals set expires_at = created_at where id = '" + id + "'");

        assertThat(proposals("?state=expired&run_id=" + run)).hasSize(1);
        assertThat(proposals("?state=pending&run_id=" + run)).isEmpty();
        assertThat(api.get(API + "/inbox?run_id=" + run).json().get("items")).isEmpty();
        assertThat(post("/proposals/" + id + "/reject", "{}", 409).get("current_state").stringValue())
                .isEqualTo("expired");
    }

    @Test
    void aWorkerProposesWithItsReportAndOnce() {
        String claim = """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": %d}""";
        api.post(API + "/dispatch/claim", claim.formatted(0));
        String run = api.create(ApiServer.REMOTE);
        JsonNode step = post("/dispatch/claim", claim.formatted(20_000), 200).get("items").get(0);
        String report = """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": 1, "output": 1, "proposals": [%s]}]}""";
        String stepId = step.get("step_id").stringValue();

        JsonNode refused = post("/dispatch/complete", report.formatted(stepId, "{\"body\": \"x\"}"), 422);
        assertThat(refused.get("problems").get(0).get("pointer").stringValue()).isEqualTo("/items/0/proposals/0/title");
        String good = report.formatted(stepId, "{\"title\": \"One\"}, {\"title\": \"Two\", \"data\": [1]}");
        assertThat(post("/dispatch/complete", good, 200).at("/items/0/status").stringValue()).isEqualTo("ok");
        assertThat(post("/dispatch/complete", good, 200).at("/items/0/status").stringValue()).isEqualTo("duplicate");

        api.awaitState(run, "completed");
        assertThat(proposals("?run_id=" + run)).extracting(each -> each.get("title").stringValue())
                .containsExactlyInAnyOrder("One", "Two");
        assertThat(api.get("/runs/" + run + "/status").json().get("proposals_created")).hasSize(2);
        JsonNode first = api.get(API + "/proposals?limit=1&run_id=" + run).json();
        assertThat(proposals("?limit=1&run_id=" + run + "&cursor=" + first.get("next_cursor").stringValue()))
                .hasSize(1).isNotEqualTo(first.get("items"));
    }

    private static List<JsonNode> proposals(String query) {
        Answer answer = api.get(API + "/proposals" + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return StreamSupport.stream(answer.json().get("items").spliterator(), false).toList();
    }

    private static JsonNode event(String run, String type) {
        return StreamSupport.stream(api.get(API + "/runs/" + run + "/events?limit=500").json().get("items")
                .spliterator(), false).filter(each -> each.get("event_type").stringValue().equals(type)).findFirst()
                .orElseThrow();
    }

    private static JsonNode post(String path, String body, int status) {
        Answer answer = api.post(API + path, body);
        assertThat(answer.status()).as(path + ": " + answer.text()).isEqualTo(status);
        return answer.json();
    }
}
