package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Step;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.api.http.TestProvider;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Steps place orders with a provider over HTTP after an approval. The server is killed before it records an accepted order,
 * and before it records the step's result. Each order is placed and charged once.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Breadth.InPart(3)
class CommandKillsTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final Map<String, Object> ORDER = Map.of("symbol", "BTC-USD", "side", "buy", "type", "market");
    private static final String PRICE = "0.25";

    @Test
    void acceptedOrderIsPlacedAndChargedOnce(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (TestProvider provider = new TestProvider();
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_PROVIDER_URL", provider.url(),
                                "KEELSON_PROVIDER_TIMEOUT_SECONDS", "1", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
            node.awaitReady();
            node.client().prices().setTool("order.place", new BigDecimal(PRICE));
            String run = node.client().runs().create(RunRequest.of(mission().toJson()).start()).id();
            Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(20)).until(() -> node.client().runs()
                    .steps(run).stream().map(Step::state).anyMatch("waiting_approval"::equals));
            assertThat(provider.asked()).as("nothing before the approval").isEmpty();
            node.doom(Point.BEFORE_COMMIT, new Write("update execution_commands", "completed"), 0);
            node.client().runs().approve(run, "buy");
            node.awaitDeath();
            node.doom(Point.BEFORE_COMMIT, new Write("insert into run_event_packs", "step_completed"), 1);
            node.restart();
            node.awaitDeath();
            node.restart();
            node.awaitReady();
            Keelson client = node.client();
            assertThat(client.runs().awaitEnd(run, TIMEOUT).state()).isEqualTo("completed");
            assertThat(provider.made()).as("orders placed").isEqualTo(2);
            List<String> keys = provider.asked().stream().map(TestProvider.Asked::key).toList();
            assertThat(keys).as("asked again under its key, more often where the machine starves the node")
                    .hasSizeGreaterThanOrEqualTo(3).startsWith(keys.get(1));
            assertThat(Set.copyOf(keys)).hasSize(2);
            assertThat(client.runs().steps(run)).as("a node that dies costs no attempt")
                    .filteredOn(step -> "order.place".equals(step.tool())).hasSize(2)
                    .allMatch(step -> step.attempt() == 1 && step.failures() == 0);
            List<JsonNode> charges = client.api().get("/runs/" + run + "/ledger").path("items").valueStream()
                    .filter(entry -> entry.path("transaction_type").asString("").equals("charge")).toList();
            assertThat(charges).extracting(charge -> charge.get("amount").decimalValue().toPlainString())
                    .containsExactly(PRICE, PRICE);
            Invariants.hold(database);
        }
    }

    /** Two orders, one after the other. */
    private static Mission mission() {
        return Mission.named("orders").goal("buy").task("a", t -> t.approval("sign-off", "Buy?")
                .step("one", "order.place", with("1")).step("two", "order.place", with("2")));
    }

    private static Map<String, Object> with(String quantity) {
        Map<String, Object> order = new HashMap<>(ORDER);
        order.put("quantity", quantity);
        return order;
    }
}
