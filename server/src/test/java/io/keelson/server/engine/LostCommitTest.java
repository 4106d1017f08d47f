package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.db.CountingProxy;
import io.keelson.server.db.CountingProxy.Loss;
import io.keelson.server.db.Database;
import io.keelson.server.db.DatabaseOptions;
import io.keelson.server.db.TestDatabase;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is lost during the message that writes and commits: the node cannot know whether it committed. */
class LostCommitTest {

    @ParameterizedTest
    @EnumSource(Loss.class)
    void requestIsExecutedOnce(Loss loss, @TempDir Path folder) throws Exception {
        try (CountingProxy proxy = new CountingProxy(TestDatabase.createUrl());
                Database database = new Database(proxy.url(), DatabaseOptions.DEFAULTS);
                Nodes nodes = new Nodes(folder, database)) {
            Engine engine = nodes.node();
            UUID run = nodes.submit(engine, """
                    name: short
                    plan:
                      tasks:
                        - {id: a, title: A, steps: [{name: one, tool: remote.work}]}
                    """, "remote.work");
            proxy.lose(loss, "merge into run_heads");
            Reply reply = engine.submit(new Command.Pause(run, null, Nodes.WHO)).join();

            assertThat(proxy.lost()).isTrue();
            assertThat(reply).isEqualTo(loss == Loss.REQUEST ? Reply.CHANGED : Reply.UNCHANGED);
            assertThat(nodes.state(run)).isEqualTo("paused");
            assertThat(nodes.count("select count(*) from orchestration_events where event_type = 'run_paused'"))
                    .isEqualTo(1);
            assertThat(engine.submit(new Command.Resume(run, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
            nodes.assertSound();
        }
    }
}
