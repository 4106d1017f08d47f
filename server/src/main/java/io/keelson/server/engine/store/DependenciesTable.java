package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.plan.Dependency;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/** {@code orchestration_task_dependencies}. */
final class DependenciesTable {
    static final String DATA = "data";

    private record Link(UUID taskId, UUID dependsOn, boolean data) {}

    static final RowSetStatement<Link> INSERT = new RowSetStatement<>("keelson_dependency_new", """
            insert into orchestration_task_dependencies (task_id, depends_on_id, dependency_type)
            select task_id, depends_on_id, dependency_type from {rows}""",
            uuid("task_id", Link::taskId), uuid("depends_on_id", Link::dependsOn),
            word("dependency_type", link -> link.data ? DATA : "ordering"));

    /**
     * In plan order, like the plan's own links, so that tasks of one moment are judged in the same order. Looks the
     * upstream up: a join planned on empty tables reads all of them.
     */
    private static final String LOAD = """
            select t.run_id, t.id, d.depends_on_id
              from orchestration_tasks t
              join orchestration_runs r on r.id = t.run_id and r.attempt_number = t.attempt
              join orchestration_task_dependencies d on d.task_id = t.id
             cross join lateral (select * from orchestration_tasks where id = d.depends_on_id limit 1) up
             where t.run_id = any (?) and not t.superseded and not up.superseded
             order by t.run_id, t.sequence_number, up.sequence_number, t.id, up.id""";

    private DependenciesTable() {}

    /** The links of new tasks to their upstreams, and further ones of existing tasks. */
    static Part<?> insert(Set<TaskRow> newTasks, Collection<ChangeSet.Link> further) {
        List<Link> links = new ArrayList<>();
        newTasks.forEach(task -> link(task, task.upstreams(), links));
        further.stream().filter(each -> !newTasks.contains(each.task()))
                .forEach(each -> link(each.task(), List.of(each.upstream()), links));
        return INSERT.of(links);
    }

    private static void link(TaskRow task, List<TaskRow> upstreams, List<Link> into) {
        if (upstreams.isEmpty()) {
            return;
        }
        Set<String> data = new HashSet<>();
        task.spec().dependsOn().stream().filter(Dependency::data).forEach(each -> data.add(each.task()));
        upstreams.forEach(up -> into.add(new Link(task.id(), up.id(), data.contains(up.spec().id()))));
    }

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        ViewLoader.each(c, LOAD, runIds, row -> {
            TaskRow task = Objects.requireNonNull(loader.tasks.get(ViewLoader.uuid(row, "id")));
            TaskRow up = Objects.requireNonNull(loader.tasks.get(ViewLoader.uuid(row, "depends_on_id")));
            loader.view(row).link(task, up);
        });
    }
}
