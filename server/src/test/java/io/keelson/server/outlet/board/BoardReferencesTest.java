package io.keelson.server.outlet.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.outlet.BoardTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the board and the reports refer to, which no foreign key holds: deleting it, and adding to it meanwhile. */
class BoardReferencesTest {
    private final Database database = TestDatabase.create();
    private final BoardTasks board = new BoardTasks(database);
    private UUID workspace;
    private UUID other;

    @BeforeEach
    void fill() {
        workspace = workspace();
        other = workspace();
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void deletedWorkspaceTakesItsBoardAndReports() {
        long stays = make(other, null);
        make(workspace, make(workspace, null));
        for (UUID each : List.of(workspace, other)) {
            execute("insert into agent_reports (workspace_id, report_type, title) values ('" + each
                    + "', 'audit', 't')");
        }
        execute("delete from workspaces where id = '" + workspace + "'");
        assertThat(query("select id from board_tasks")).containsExactly(String.valueOf(stays));
        assertThat(query("select workspace_id from agent_reports")).containsExactly(other.toString());
    }

    @Test
    void aTaskWhoseParentGoesHasNone() {
        long grandparent = make(workspace, null);
        long parent = make(workspace, grandparent);
        long child = make(workspace, parent);
        assertThat(board.remove(workspace, parent)).isTrue();
        assertThat(query("select concat_ws(' ', id, parent_task_id) from board_tasks order by id"))
                .containsExactly(String.valueOf(grandparent), String.valueOf(child));
    }

    /** A transaction that has read parent or workspace keeps them from being deleted until it commits. */
    @Test
    void addingATaskLocksItsParentAndWorkspace() throws SQLException {
        long parent = make(workspace, null);
        try (Connection c = database.dedicatedConnection()) {
            c.setAutoCommit(false);
            assertThat(board.create(c, workspace, task(parent))).isPresent();
            for (String sql : List.of("delete from board_tasks where id = " + parent,
                    "delete from workspaces where id = '" + workspace + "'")) {
                assertThatThrownBy(() -> database.runInTransaction(meanwhile -> {
                    run(meanwhile, "set local lock_timeout = 200");
                    run(meanwhile, sql);
                })).as(sql).hasMessageContaining("lock timeout");
            }
            c.commit();
        }
        assertThat(query("select parent_task_id from board_tasks where parent_task_id is not null"))
                .containsExactly(String.valueOf(parent));
    }

    @Test
    void noTaskIsAddedBelowOrInWhatIsNotThere() {
        long elsewhere = make(other, null);
        Optional<BoardTask> made = database.inTransaction(c -> board.create(c, workspace, task(elsewhere)));
        assertThat(made).isEmpty();
        UUID nowhere = UUID.randomUUID();
        assertThatThrownBy(() -> make(nowhere, null)).hasMessageContaining("there is no workspace " + nowhere);
    }

    private UUID workspace() {
        UUID id = UUID.randomUUID();
        execute("insert into workspaces (id, name) values ('" + id + "', 'w')");
        return id;
    }

    private long make(UUID in, Long parent) {
        Optional<BoardTask> made = database.inTransaction(c -> board.create(c, in, task(parent)));
        return made.orElseThrow().id();
    }

    private static BoardTasks.New task(Long parent) {
        return new BoardTasks.New("t", null, "inbox", "medium", null, parent, "[]", "me");
    }

    private void execute(String sql) {
        database.runInTransaction(c -> run(c, sql));
    }

    private static void run(Connection c, String sql) throws SQLException {
        try (Statement statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> query(String sql) {
        return database.withConnection(c -> {
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                List<String> found = new ArrayList<>();
                while (row.next()) {
                    found.add(row.getString(1));
                }
                return found;
            }
        });
    }
}
