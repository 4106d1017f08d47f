package io.keelson.server.annex.postgres;

import static io.keelson.server.annex.postgres.EmbeddedPostgresTest.single;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.security.auth.module.UnixSystem;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import io.keelson.server.base.db.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ways round PostgreSQL's refusal to run as root; only root can try them. */
class PrivilegesTest {

    private static final Privileges BROKEN = new Privileges(List.of("false"), 0);

    @TempDir
    private Path folder;

    @BeforeEach
    void onlyAsRoot() throws Exception {
        assumeTrue(new UnixSystem().getUid() == 0);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
    }

    @Test
    void withoutNamespacesAnotherUserRunsTheSameData() throws Exception {
        for (int start = 0; start < 2; start++) {
            try (var postgres = start()) {
                assertThat(single(postgres.url(), "select 1")).isEqualTo("1");
                ProcessHandle postmaster = EmbeddedPostgresTest.postmaster(folder.resolve("data"));
                assertThat(postmaster.info().user()).contains("nobody");
            }
        }
        assertThat(Files.getAttribute(folder.resolve("data/postgres"), "unix:uid")).isEqualTo(65534);
    }

    @Test
    void errorNamesARemedyWhenNoWayWorks() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));

        assertThatThrownBy(this::start)
                .isInstanceOfSatisfying(DatabaseException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.EMBEDDED_POSTGRES_UNSUPPORTED))
                .hasMessageContaining("ordinary user")
                .hasMessageContaining("KEELSON_DATABASE_URL");
    }

    private EmbeddedPostgres start() {
        var options = new EmbeddedPostgresOptions(folder.resolve("data"), TestPostgres.BINARIES,
                Map.of("fsync", "off"), false);
        return EmbeddedPostgres.start(options, EmbeddedPostgres::freePort, List.of(BROKEN, Privileges.OTHER_USER));
    }
}
