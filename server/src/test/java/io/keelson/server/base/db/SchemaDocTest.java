package io.keelson.server.base.db;

import io.keelson.GeneratedDocs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/reference/schema.md} is what a database of the current schema says, in the order of the files that make it. */
class SchemaDocTest {

    private static final Path FILES = Path.of("src", "main", "resources", "db", "schema");
    private static final Pattern MADE =
            Pattern.compile("^create (?:table if not exists|or replace view) (\\w+)", Pattern.MULTILINE);

    private static final String DOMAINS = """
            select '- `' || t.typname || '` ' || format_type(t.typbasetype, t.typtypmod) || ': '
                    || obj_description(t.oid, 'pg_type')
                    || case when length(pg_get_constraintdef(c.oid)) <= 100
                        then ' `' || pg_get_constraintdef(c.oid) || '`' else '' end
              from pg_type t join pg_constraint c on c.contypid = t.oid
             where t.typnamespace = ?::regnamespace order by t.typname""";

    private static final String PURPOSE = "select obj_description(?::regclass, 'pg_class')";

    private static final String COLUMNS = """
            select string_agg('`' || attname || '` ' || type
                    || case when attname = any (key) then ' (key)' when nullable then '?' else '' end, ', '
                    order by attnum)
              from (select a.attname, a.attnum, not a.attnotnull and c.relkind = 'r' as nullable,
                        replace(replace(format_type(a.atttypid, a.atttypmod), 'character varying', 'varchar'),
                            'timestamp with time zone', 'timestamptz') as type,
                        array(select k.attname from pg_index i join pg_attribute k on k.attrelid = i.indrelid
                                and k.attnum = any (i.indkey) where i.indrelid = c.oid and i.indisprimary) as key
                      from pg_class c join pg_attribute a on a.attrelid = c.oid
                     where c.oid = ?::regclass and a.attnum > 0 and not a.attisdropped) columns""";

    private static final String COMMENTS = """
            select '- `' || attname || '`: ' || col_description(attrelid, attnum) from pg_attribute
             where attrelid = ?::regclass and attnum > 0 and col_description(attrelid, attnum) is not null
             order by attnum""";

    private static final String REFERENCES = """
            select '- refers to ' || string_agg(distinct '`' || confrelid::regclass || '`', ', ') from pg_constraint
             where conrelid = ?::regclass and contype = 'f' having count(*) > 0""";

    @Test
    void everyTable() throws Exception {
        try (Stream<Path> files = Files.list(FILES);
                Connection connection = TestDatabase.createUrl().connect()) {
            StringBuilder text = new StringBuilder("\n## Domains\n").append(texts(connection, DOMAINS, "public"))
                    .append('\n');
            for (Path file : files.filter(each -> each.toString().endsWith(".sql")).sorted().toList()) {
                text.append(section(file, connection));
            }
            GeneratedDocs.check("docs/reference/schema.md", "tables", text.toString());
        }
    }

    /** None for a file without tables. */
    private static String section(Path file, Connection connection) throws IOException, SQLException {
        List<String> tables = MADE.matcher(Files.readString(file)).results().map((MatchResult made) -> made.group(1))
                .toList();
        String name = file.getFileName().toString();
        StringBuilder text = new StringBuilder(tables.isEmpty() ? ""
                : "\n## [" + name + "](../../server/src/main/resources/db/schema/" + name + ")\n");
        for (String table : tables) {
            text.append("\n### `").append(table).append("`\n").append(texts(connection, PURPOSE, table)).append("\n\n")
                    .append(texts(connection, COLUMNS, table)).append('\n');
            String notes = Stream.of(COMMENTS, REFERENCES).map(sql -> texts(connection, sql, table))
                    .filter(each -> !each.isEmpty()).collect(Collectors.joining("\n"));
            text.append(notes.isEmpty() ? "" : "\n" + notes + "\n");
        }
        return text.toString();
    }

    private static String texts(Connection connection, String sql, String table) {
        try (PreparedStatement read = connection.prepareStatement(sql)) {
            read.setString(1, table);
            List<String> texts = new ArrayList<>();
            try (ResultSet row = read.executeQuery()) {
                while (row.next()) {
                    texts.add(row.getString(1));
                }
            }
            return String.join("\n", texts);
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }
}
