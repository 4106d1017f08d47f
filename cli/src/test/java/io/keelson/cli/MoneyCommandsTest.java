package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What concerns money, as a shell calls it beside one server. */
class MoneyCommandsTest {

    @TempDir
    private static Path folder;

    private static final DatabaseUrl URL = TestDatabase.createUrl();

    private static InProcessCli inProcessCli;

    @BeforeAll
    static void start() throws Exception {
        inProcessCli = new InProcessCli(folder, URL, Map.of("KEELSON_INITIAL_CREDITS", "100"));
    }

    @AfterAll
    static void stop() {
        inProcessCli.close();
    }

    @Test
    void creditsAreGrantedOnceByAKeyAndCorrected() throws Exception {
        assertThat(inProcessCli.lines("credits", "grant", "20.5", "--reason", "May", "--key", "may").getLast())
                .startsWith("granted 20.5; available ");
        assertThat(inProcessCli.run("credits", "grant", "20.5", "--reason", "May", "--key", "may", "--json").json()
                .get("transaction_type").stringValue()).isEqualTo("grant");
        assertThat(inProcessCli.lines("credits", "adjust", "0.5", "--from", "available", "--to", "funding", "--reason",
                "too much"))
                .containsExactly("moved 0.5 from available to funding");
        assertThat(inProcessCli.lines("credits")).containsExactly("available  120", "reserved   0", "spent      0");

        Result conflict = inProcessCli.run("credits", "grant", "1", "--key", "may");
        assertThat(conflict.code()).isEqualTo(2);
        assertThat(conflict.err()).contains("[IDEMPOTENCY_KEY_CONFLICT]");
        Result negative = inProcessCli.run("credits", "grant", "--", "-1");
        assertThat(negative.code()).isEqualTo(2);
        assertThat(negative.err()).startsWith("error: /amount: ").contains("OUT_OF_RANGE").hasLineCount(1);
        assertThat(inProcessCli.run("usage", "--from", "May").err()).contains("'May' is not a day such as 2026-01-31")
                .doesNotContain("Exception");
        assertThat(inProcessCli.run("credits", "grant", "NaN").code()).isEqualTo(2);
        assertThat(inProcessCli.run("credits", "grant", "much").err()).contains("'much' is not a number such as 12.5")
                .doesNotContain("Exception");
        assertThat(inProcessCli.run("keys", "revoke", "mine").err()).contains("[INVALID_ID]",
                "`keelson keys` lists the keys");
        assertThat(
                inProcessCli.run("credits", "adjust", "1000", "--from", "available", "--to", "spent", "--reason", "all")
                        .err())
                .contains("[INSUFFICIENT_CREDITS]", "keelson credits grant");

        assertThat(inProcessCli.lines("ledger", "--type", "adjustment").getLast()).contains(" adjustment ", " 0.5 ",
                "too much");
        assertThat(inProcessCli.lines("ledger", "--csv")).hasSize(4).first().asString().startsWith("id,created_at,");
        assertThat(inProcessCli.run("ledger", "--json", "--limit", "1").json().get("next_cursor").isString()).isTrue();
        assertThat(inProcessCli.lines("ledger").getFirst().replaceAll(" +", " "))
                .endsWith("RUN WHO PRICE VERSION PURPOSE");
        assertThat(inProcessCli.run("usage", "--from", "2099-01-01").err()).contains("'from' is in the future");
        assertThat(inProcessCli.run("ledger", "latest", "--type", "grant").code()).isEqualTo(2);
    }

    @Test
    void pricesAreSetListedAndRemoved() throws Exception {
        assertThat(inProcessCli.lines("prices")).containsExactly("no prices");
        assertThat(inProcessCli.lines("prices", "set", "model", "large", "--input", "2.50", "--cache-read", "0.25",
                "--output", "10")).hasSize(2);
        assertThat(
                inProcessCli.lines("prices", "set", "tool", "web.search", "0.01").stream()
                        .map(l -> l.replaceAll(" +", " ")))
                .containsExactly("KIND NAME CALL INPUT CACHE READ CACHE WRITE OUTPUT SINCE VERSION",
                        "tool web.search 0.01 2", "model large 2.5 0.25 2.5 10 1");
        assertThat(inProcessCli.run("prices", "set", "model", "large", "2.5").code()).isEqualTo(2);
        assertThat(inProcessCli.run("prices", "set", "model", "large", "--input", "1").code()).isEqualTo(2);
        assertThat(inProcessCli.run("prices", "set", "tool", "web.search", "1", "--output", "1").code()).isEqualTo(2);
        assertThat(inProcessCli.lines("prices", "remove", "tool", "web.search")).hasSize(2);
        Result unknown = inProcessCli.run("prices", "remove", "tool", "web.search");
        assertThat(unknown.code()).isEqualTo(1);
        assertThat(unknown.err()).contains("[PRICE_NOT_FOUND]", "keelson prices");
        assertThat(inProcessCli.run("prices", "--at", "2", "--json").json().get("items").size()).isEqualTo(2);
        Result later = inProcessCli.run("prices", "--at", "4");
        assertThat(later.code()).isNotZero();
        assertThat(later.out()).isEmpty();
        assertThat(later.err()).contains("'version' is above the current version of the price list, 3");
    }

    @Test
    void ledgerDiscrepancyIsExitCodeOne() throws Exception {
        assertThat(inProcessCli.lines("ledger", "verify").getLast()).startsWith("right: ").endsWith(" 1 workspace");
        assertThat(inProcessCli.run("ledger", "verify", "--all", "--json").json().get("ok").booleanValue()).isTrue();
        UUID broken = UUID.randomUUID();
        execute("insert into workspaces (id, name) values ('" + broken + "', 'broken')");
        execute("update credit_slots set spent = 1.5, funded = 1.5 where slot = 0 and workspace_id = '" + broken + "'");

        Result wrong = inProcessCli.run("ledger", "verify", "--all");

        assertThat(wrong.code()).isEqualTo(1);
        assertThat(wrong.out().strip())
                .isEqualTo("wrong: workspace " + broken + ": spent should be 0 by the ledger and is 1.5");
    }

    @Test
    void anotherWorkspacesKeysAndCreditsAreLookedAfterByItsName() throws Exception {
        Result made = inProcessCli.run("workspaces", "create", "acme", "--limit", "steps=2", "--json");
        assertThat(made.err()).contains("the workspace has no credits yet: ", "credits grant N --workspace \"acme\"");
        assertThat(inProcessCli.lines("credits", "grant", "5", "--workspace", "acme").getLast())
                .startsWith("granted 5 to workspace ");
        inProcessCli.run("keys", "create", "ci", "--workspace", "acme", "--scope", "runs:read");
        String key = inProcessCli.run("keys", "--workspace", "acme", "--json").json().at("/items/0/id").stringValue();
        Result rotated = inProcessCli.run("keys", "rotate", key, "--workspace", "acme");
        assertThat(rotated.out()).startsWith("kl_").hasLineCount(1);
        assertThat(rotated.err()).contains("the old key stays valid for 1d");
        assertThat(inProcessCli.lines("keys", "revoke", key, "--workspace", "acme"))
                .containsExactly("key " + key + " is revoked");
        inProcessCli.lines("workspaces", "limits", "acme", "--limit", "steps=none");
        assertThat(inProcessCli.lines("workspaces", "folders", "acme"))
                .contains("folders              from the server's settings");
        assertThat(inProcessCli.lines("workspaces", "folders", "acme", "/srv/acme", "/srv/shared"))
                .contains("folders              /srv/acme  /srv/shared");
        assertThat(inProcessCli.lines("workspaces", "folders", "acme", "--none")).contains("folders              none");
        assertThat(inProcessCli.run("workspaces", "folders", "acme", "/srv", "--none").code()).isEqualTo(2);
        assertThat(inProcessCli.lines("workspaces", "folders", "acme", "--of-server"))
                .contains("folders              from the server's settings");
        inProcessCli.lines("workspaces", "close", made.json().get("id").stringValue());

        assertThat(inProcessCli.lines("keys", "--workspace", "acme").getLast()).contains(" revoked ", " ago ")
                .doesNotContain(" in ");
        assertThat(inProcessCli.lines("audit").stream().map(line -> line.replaceAll(" +", " "))).anySatisfy(
                line -> assertThat(line).contains(" credits_granted acme ").endsWith(" amount=5"))
                .anySatisfy(line -> assertThat(line).endsWith(" workspace_created acme name=acme limits.steps=2"))
                .anySatisfy(line -> assertThat(line).endsWith(" workspace_changed acme limits.steps=none"));
        assertThat(inProcessCli.lines("audit", "--workspace", "acme").getFirst()).doesNotContain("WORKSPACE");
    }

    @Test
    void aSecretThatIsNoTextIsRefused() throws Exception {
        Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, 1});
        Result refused = inProcessCli.run("secrets", "set", "bin", "--file", binary.toString());
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err()).contains("[SECRET_NOT_TEXT]");
    }

    private static void execute(String sql) throws Exception {
        try (Connection connection = URL.connect(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void usageNamesAsTheDashboard() throws Exception {
        try (InProcessCli own = new InProcessCli(Files.createDirectory(folder.resolve("named")))) {
            own.lines("prices", "set", "tool", "noop", "0.5");
            own.lines("run", own.mission("plan: {tasks: [{id: a, steps: [{tool: noop}]}]}"));

            assertThat(own.lines("usage", "--by", "agent").get(1)).startsWith("default agent (plain steps)  0.5 ");
            assertThat(own.lines("usage", "--by", "model").get(1)).startsWith("no model ");
            assertThat(own.lines("usage", "--by", "recipe").get(1)).startsWith("no recipe ");
        }
    }

    @Test
    void usageIsATableWithATotal() throws Exception {
        assertThat(inProcessCli.lines("usage", "--by", "agent").getLast().replaceAll(" +", " "))
                .isEqualTo("total 0 0 0 0");
        assertThat(inProcessCli.run("usage", "--by", "week").code()).isEqualTo(2);
    }
}
