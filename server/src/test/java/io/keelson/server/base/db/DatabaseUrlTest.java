package io.keelson.server.base.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.db.DatabaseException.Code;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseUrlTest {

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            postgresql://me:pw@host/db,                      host,          db,  me,   pw,    ''
            postgres://me:pw@host:6432/db,                   host:6432,     db,  me,   pw,    ''
            postgresql://host/db,                            host,          db,  -,    -,     ''
            postgresql://m%40e:p%3Aw+%2F@host/d%20b,         host,          d b, m@e,  p:w+/, ''
            postgresql://me:pw@host/db?sslmode=require&a=b,  host,          db,  me,   pw,    sslmode=require&a=b
            jdbc:postgresql://h1:1/db?user=me&password=p%25, h1:1,          db,  me,   p%,    ''
            jdbc:postgresql://h1/db?password=pw&ssl=true,    h1,            db,  -,    pw,    ssl=true
            postgresql://me@[::1]:5432/db,                   [::1]:5432,    db,  me,   -,     ''
            """)
    void bothFormsAreRead(String text, String hosts, String database, @Nullable String user, @Nullable String password,
            String parameters) {
        assertThat(DatabaseUrl.parse(text)).isEqualTo(new DatabaseUrl(hosts, database, user, password, parameters));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "mysql://me:topsecret@host/db", "postgresql://me:topsecret@host",
            "postgresql://me:top%zzsecret@host/db", "host:5432/topsecret"})
    void anythingElseIsRefusedWithoutShowingIt(String text) {
        assertThatThrownBy(() -> DatabaseUrl.parse(text))
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.DATABASE_URL_INVALID))
                .hasMessageNotContaining("secret");
    }

    @Test
    void textAndDriverUrlContainNoPassword() {
        var url = DatabaseUrl.parse("postgresql://me:topsecret@host/my%20db?sslmode=require");

        assertThat(url).hasToString("postgresql://host/my db");
        assertThat(url.jdbc()).isEqualTo("jdbc:postgresql://host/my%20db?sslmode=require");
        assertThat(url.credentials()).containsEntry("user", "me").containsEntry("password", "topsecret");
    }
}
