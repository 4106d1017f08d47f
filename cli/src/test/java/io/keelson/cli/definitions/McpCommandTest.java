package io.keelson.cli.definitions;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.cli.common.ExitCode;
import io.keelson.client.InboxQuery;
import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.annex.mcp.TokenEndpoint;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** MCP servers as a shell uses them. */
class McpCommandTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private Path mission(String tool) throws Exception {
        return Files.writeString(folder.resolve(tool + ".yaml"), """
                name: calls
                plan:
                  tasks:
                    - id: one
                      title: One
                      steps: [{name: call, tool: %s}]
                """.formatted(tool));
    }

    @Test
    @Breadth.InPart({2, 6})
    void toolsAreAllowedAcceptedAndAskedAbout() throws Exception {
        try (InProcessCli cli = new InProcessCli(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"));
                FakeMcpServer other = new FakeMcpServer("{}");
                TokenEndpoint tokens = new TokenEndpoint("keelson", "client-secret")) {
            cli.client().secrets().set("client", "client-secret");
            other.wanted = "Bearer " + TokenEndpoint.token(1);
            Result added =
                    cli.run("mcp", "add", "other", "--url", other.url(), "--tool", "ask", "--effects", "add=read",
                            "--token-url", tokens.url(), "--client-id", "keelson", "--client-secret", "client");
            assertThat(added.code()).as(added.err() + added.out()).isZero();
            Result off = cli.run("run", mission("mcp.other.add").toString());
            assertThat(off.code()).isNotZero();
            assertThat(off.err()).contains("UNKNOWN_TOOL", "it is off; `keelson mcp allow other add` allows it");
            assertThat(cli.run("run", mission("mcp.other.none").toString()).err())
                    .contains("has no such tool; `keelson mcp show other`");
            assertThat(cli.run("run", mission("mcp.unknown.add").toString()).err())
                    .contains("no MCP server 'unknown'");
            String needed = Files.writeString(folder.resolve("needed.yaml"), """
                    name: needs
                    plan: {tasks: [{id: one, tools_needed: [echo, mcp.other.add], suggested_agent: {type: contractor,
                      agent_name: one, tools: [mcp.other.ad]}}]}
                    """).toString();
            assertThat(cli.run("validate", needed).err()).contains("UNKNOWN_TOOL",
                    "/plan/tasks/0/tools_needed/1", "mcp.other.add: ", "`keelson mcp allow other add` allows it",
                    "/plan/tasks/0/suggested_agent/tools/0", "mcp.other.ad: ", "has no such tool");
            assertThat(
                    cli.run("agents", "create", "adder", "--tool", "mcp.other.add", "--tool", "mcp.other.ad", "--tool",
                            "mcp.other.ask").out())
                    .contains(
                            "warning: mcp.other.add: the MCP server 'other' has this tool, and it is off; `keelson mcp "
                                    + "allow other add` allows it",
                            "warning: mcp.other.ad: the MCP server 'other' has no such tool")
                    .doesNotContain("warning: mcp.other.ask");

            Result away = cli.run("mcp", "add", "away", "--url", "http://127.0.0.1:1/mcp", "--tool", "one");
            assertThat(away.code()).isNotZero();
            assertThat(away.out()).contains("error: MCP_UNREACHABLE", "warning: the tools of the MCP server 'away' are "
                    + "not known yet, so these names are not checked: one");
            assertThat(cli.run("doctor").out()).as("a server behind HTTP has no log here")
                    .contains("check http://127.0.0.1:1/mcp and the credentials").doesNotContain("mcp show away");
            assertThat(cli.run("run", mission("mcp.away.one").toString()).err()).contains(
                    "the MCP server 'away' does not answer, so that its tools are not known (MCP_UNREACHABLE: ",
                    "`keelson mcp check away` tries again");
            assertThat(cli.run("mcp", "remove", "away").code()).isZero();
            Result typo = cli.run("mcp", "allow", "other", "ad");
            assertThat(typo.code()).isNotZero();
            assertThat(typo.err()).contains("UNKNOWN_TOOL", "did you mean 'add'?");
            assertThat(cli.run("tools", "mcp.other.add").err()).contains("TOOL_UNKNOWN", "keelson mcp show other");
            assertThat(cli.run("tools", "mcp.other.ask").out()).contains("Tool ask", "effects: destructive",
                    "MCP server: other; state: allowed", "\"x-mcp-header\"");

            other.wanted = "Bearer " + TokenEndpoint.token(2);
            Result allowed = cli.run("mcp", "allow", "other", "add");
            assertThat(allowed.out()).containsPattern("mcp.other.add +allowed +read")
                    .containsPattern("mcp.other.ask +allowed");
            assertThat(cli.run("run", mission("mcp.other.add").toString()).code()).isZero();

            other.description = "Adds, and more";
            assertThat(cli.run("mcp", "check", "other").out()).containsPattern("mcp.other.add +changed")
                    .containsPattern("accepted: .*\"description\":\"Adds\"")
                    .containsPattern("now: .*\"description\":\"Adds, and more\"");
            assertThat(cli.run("tools").out()).containsPattern("mcp.other.add +read +mcp, changed +Adds")
                    .containsPattern("mcp.other.ask +destructive +mcp +Tool ask")
                    .containsPattern("echo +read +builtin");
            assertThat(cli.run("mcp", "show", "other", "--schemas").out()).contains("input of mcp.other.add",
                    "\"x-mcp-header\"");
            assertThat(cli.run("run", mission("mcp.other.add").toString()).err()).contains("MCP_TOOL_CHANGED",
                    "keelson mcp accept other add");
            Result inbox = cli.run("inbox", "--kind", "tool_change", "--details");
            assertThat(inbox.out()).contains("tool_change  tool_", "describes its tool 'add'", "Adds, and more");
            String item = cli.client().inbox().list(InboxQuery.all().kind("tool_change")).items().getFirst().id();
            Result approved = cli.run("approve", item);
            assertThat(approved.err() + approved.out()).contains(item + " is accepted");
            assertThat(cli.run("run", mission("mcp.other.add").toString()).code()).isZero();

            String run = cli.run("run", mission("mcp.other.ask").toString(), "--detach", "--json").json().path("id")
                    .asString();
            String question = Awaitility.await().atMost(LIMIT).until(() -> cli.client().inbox()
                    .list(InboxQuery.all().kind("elicitation")).items().stream().findFirst().orElse(null),
                    found -> found != null).id();
            Result watched = cli.run("watch", run);
            assertThat(watched.code()).isEqualTo(ExitCode.WAITS_FOR_HUMAN);
            assertThat(watched.out()).contains("The MCP server 'other' asks", "approve " + question + " --content");
            assertThat(cli.run("explain", run).err()).contains("reject " + question);
            assertThat(cli.run("approve", question, "--content", "{\"name\": 1}").err()).contains("ANSWER_INVALID",
                    "/content/name");
            assertThat(cli.run("reject", question, "--cancel").code()).isZero();
            assertThat(cli.client().runs().awaitEnd(run, LIMIT).state()).isEqualTo("completed");
            assertThat(other.calls("ask").getLast().at("/params/inputResponses/who/action").asString())
                    .isEqualTo("cancel");
        }
    }
}
