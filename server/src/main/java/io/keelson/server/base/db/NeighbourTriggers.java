package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Triggers, rewrite rules and policies of others on shared tables. A BEFORE trigger or a rule can change, skip or duplicate rows
 * that Keelson writes, so it is refused. An AFTER trigger sees rows as they were written, so it only is reported.
 */
final class NeighbourTriggers {

    /** The bits of {@code pg_trigger.tgtype}: 2 before, 4 insert, 8 delete, 16 update. Keelson truncates no shared table. */
    private static final String ACTIVE = "with " + Neighbours.OURS + """
            , active as (
                select p.oid, p.place, t.tgname as name, t.tgtype & 2 <> 0 as before from pg_trigger t
                  join places p on p.oid = t.tgrelid join pg_proc f on f.oid = t.tgfoid
                 where not t.tgisinternal and t.tgenabled in ('O', 'A') and t.tgtype & 28 <> 0
                   and (t.tgname, f.proname) not in (('board_tasks_leave_children', 'keelson_leave_children'),
                        ('workspaces_drop_board', 'keelson_drop_board'), ('workspaces_open_balances', 'keelson_open_balances'))
                   and (t.tgtype & 12 <> 0 or t.tgattr = '' or exists (select from pg_attribute a
                        join ours o on o.place = p.place and o.name = a.attname
                        where a.attrelid = p.oid and a.attnum = any (t.tgattr))))
            """;

    private static final String REFUSED = ACTIVE + """
            select problem from (
                select place, name, format('%1$I has the BEFORE trigger %2$I, which can change or refuse rows of Keelson: '
                        'alter table %1$I disable trigger %2$I', place, name) as problem
                  from active where before
                union all
                select p.place, r.rulename, format('%1$I has the rewrite rule %2$I, which can replace statements of Keelson: '
                        'alter table %1$I disable rule %2$I', p.place, r.rulename)
                  from pg_rewrite r join places p on p.oid = r.ev_class
                 where r.ev_enabled in ('O', 'A')
                union all
                select p.place, y.polname, format('%1$I has the row-level security policy %2$I. Keelson''s policy, which lets '
                        'programs of others see all rows, would add to it: drop policy %2$I on %1$I', p.place, y.polname)
                  from pg_policy y join places p on p.oid = y.polrelid
                 where y.polname <> 'workspace' or to_regclass('flyway_schema_history') is null) problems
             order by place, name""";

    private static final String REPORTED = ACTIVE + """
            select format('%I has the AFTER trigger %I, which runs in transactions of Keelson: they fail when it fails',
                place, name)
              from active where not before order by place, name""";

    private NeighbourTriggers() {}

    /** Triggers and rules that must be disabled and policies that must be dropped, with the statements for it. */
    static List<String> problems(Connection connection) throws SQLException {
        return Neighbours.texts(connection, REFUSED);
    }

    /** Triggers that may stay. */
    static List<String> warnings(Connection connection) throws SQLException {
        return Neighbours.texts(connection, REPORTED);
    }
}
