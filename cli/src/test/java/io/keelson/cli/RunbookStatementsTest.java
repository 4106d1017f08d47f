package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Statements that operators execute by {@code psql} work on the schema. */
class RunbookStatementsTest {

    private static final Pattern STATEMENT = Pattern.compile("(?m)^psql \"\\$KEELSON_DATABASE_URL\" -c \"(.*)\"$");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```sql\\n(.*?)^```");

    @Test
    void statementsOfThePagesAreExecuted() throws Exception {
        int executed = 0;
        try (Connection c = TestDatabase.createUrl().connect(); Statement statement = c.createStatement()) {
            for (String page : List.of("runbooks.md", "backup.md", "adoption.md")) {
                String text = Files.readString(Path.of("../docs/operate", page));
                for (Pattern pattern : List.of(STATEMENT, BLOCK)) {
                    for (String sql : pattern.matcher(text).results().map(each -> each.group(1)).toList()) {
                        statement.execute(sql);
                        executed++;
                    }
                }
            }
        }
        assertThat(executed).isGreaterThan(8);
    }
}
