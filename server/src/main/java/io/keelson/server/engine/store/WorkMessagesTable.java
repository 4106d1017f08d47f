package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.QueueItem;
import io.keelson.server.engine.store.sql.RowSetStatement;

/** {@code work_messages} as commits write it. */
final class WorkMessagesTable {
    static final RowSetStatement<QueueItem> PUT = new RowSetStatement<>("keelson_queue_key", """
            insert into work_messages (task_id, lane, due_at) select task_id, lane, {now} from {rows}
            on conflict (task_id, lane) do update set sent = 0, due_at = excluded.due_at""",
            uuid("task_id", q -> q.key().taskId()), integer("lane", q -> q.key().lane()));

    private WorkMessagesTable() {}
}
