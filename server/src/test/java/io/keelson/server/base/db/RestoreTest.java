package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestoreTest {

    private static final String CALLED_FOR_ROWS = """
            select distinct p.oid::regprocedure::text, p.prosrc
              from pg_depend d join pg_proc p on d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
             where d.classid in ('pg_constraint'::regclass, 'pg_attrdef'::regclass, 'pg_class'::regclass)
               and p.pronamespace = 'public'::regnamespace""";

    private static final String NAMES = """
            select proname from pg_proc where pronamespace = 'public'::regnamespace
            union select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')
            union select typname from pg_type where typnamespace = 'public'::regnamespace and typtype = 'd'""";

    /** pg_restore and logical replication load rows with an empty search_path: a function sees only PostgreSQL's own names. */
    @Test
    void functionsThatCheckRowsUseNoNamesOfTheSchema() throws SQLException {
        List<String> faults = new ArrayList<>();
        List<String> functions = new ArrayList<>();
        try (Connection connection = TestDatabase.createUrl().connect();
                Statement statement = connection.createStatement()) {
            List<String> names = new ArrayList<>();
            try (ResultSet row = statement.executeQuery(NAMES)) {
                while (row.next()) {
                    names.add(row.getString(1));
                }
            }
            try (ResultSet row = statement.executeQuery(CALLED_FOR_ROWS)) {
                while (row.next()) {
                    functions.add(row.getString(1));
                    List<String> words = List.of(row.getString(2).split("\\W+"));
                    names.stream().filter(words::contains)
                            .forEach(name -> faults.add(functions.getLast() + ": " + name));
                }
            }
        }
        assertThat(functions).hasSizeGreaterThan(5);
        assertThat(faults).isEmpty();
    }
}
