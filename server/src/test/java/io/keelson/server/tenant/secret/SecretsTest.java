package io.keelson.server.tenant.secret;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Statement;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sealing, opening, new values, new keys. */
class SecretsTest {

    private final Database database = TestDatabase.create();
    private final UUID workspace = UUID.randomUUID();
    private final UUID other = UUID.randomUUID();
    private final SealingKey key = SealingKey.fresh();
    private final SecretStore secrets = new SecretStore(database, key, List.of());

    @BeforeEach
    void workspaces() {
        for (UUID id : List.of(workspace, other)) {
            sql("insert into workspaces (id, name) values ('" + id + "', 'w')");
        }
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void sql(String text) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(text);
            }
        });
    }

    private static void assertFailsWith(String code, Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(SecretException.class)
                .extracting(e -> ((SecretException) e).code()).isEqualTo(code);
    }

    @Test
    void aSecretIsOpenedForItsWorkspaceOnly() {
        secrets.set(workspace, "token", "s3cret", AuditOrigin.SERVER);

        assertThat(secrets.open(workspace, Set.of("token")).values()).isEqualTo(Map.of("token", "s3cret"));
        assertFailsWith("SECRET_NOT_FOUND", () -> secrets.open(other, Set.of("token")));
        assertFailsWith("SECRET_NOT_FOUND", () -> secrets.open(workspace, Set.of("token", "ghost")));
        assertThat(secrets.list(workspace)).singleElement().satisfies(shown -> {
            assertThat(shown.version()).isEqualTo(1);
            assertThat(shown.updatedBy()).isEqualTo("system");
        });
        assertThat(secrets.list(other)).isEmpty();
    }

    @Test
    void previousValueIsStillRedacted() {
        secrets.set(workspace, "token", "first", AuditOrigin.SERVER);
        assertThat(secrets.set(workspace, "token", "second", AuditOrigin.SERVER).version()).isEqualTo(2);

        SecretStore.Opened opened = secrets.open(workspace, Set.of("token"));
        assertThat(opened.values()).isEqualTo(Map.of("token", "second"));
        assertThat(opened.redaction().text("first second third")).isEqualTo("[secret] [secret] third");
        assertThat(secrets.redaction(workspace, Set.of("token", "ghost")).text("first")).isEqualTo("[secret]");
    }

    /** A worker may still hold a value that was replaced any number of times, or deleted. */
    @Test
    void replacedSecretIsRedactedForADay() {
        for (String value : List.of("first", "second", "third")) {
            secrets.set(workspace, "token", value, AuditOrigin.SERVER);
        }
        secrets.remove(workspace, "token", AuditOrigin.SERVER);
        assertThat(secrets.redaction(workspace, Set.of("token")).text("first second third"))
                .isEqualTo("[secret] [secret] [secret]");
        assertThat(secrets.redaction(other, Set.of("token")).none()).isTrue();
        assertFailsWith("SECRET_NOT_FOUND", () -> secrets.open(workspace, Set.of("token")));
        assertThat(secrets.list(workspace)).isEmpty();

        secrets.set(workspace, "token", "fourth", AuditOrigin.SERVER);
        secrets.forget();
        assertThat(secrets.open(workspace, Set.of("token")).redaction().text("first fourth"))
                .isEqualTo("[secret] [secret]");

        sql("update former_secrets set replaced_at = replaced_at - interval '24 hours'");
        secrets.forget();
        assertThat(secrets.open(workspace, Set.of("token")).redaction().text("first fourth"))
                .isEqualTo("first [secret]");
    }

    @Test
    void newSealingKeyKeepsFormerValuesRedacted() {
        secrets.set(workspace, "token", "first", AuditOrigin.SERVER);
        secrets.set(workspace, "token", "second", AuditOrigin.SERVER);
        SecretStore both = new SecretStore(database, SealingKey.fresh(), List.of(key));
        both.reseal();

        assertThat(both.redaction(workspace, Set.of("token")).text("first second")).isEqualTo("[secret] [secret]");
    }

    @Test
    void removedSecretIsGone() {
        secrets.set(workspace, "token", "s3cret", AuditOrigin.SERVER);

        assertThat(secrets.remove(other, "token", AuditOrigin.SERVER)).isFalse();
        assertThat(secrets.remove(workspace, "token", AuditOrigin.SERVER)).isTrue();
        assertThat(secrets.remove(workspace, "token", AuditOrigin.SERVER)).isFalse();
        assertFailsWith("SECRET_NOT_FOUND", () -> secrets.open(workspace, Set.of("token")));
    }

    @Test
    void swappedCiphertextDoesNotDecrypt() {
        secrets.set(workspace, "token", "s3cret", AuditOrigin.SERVER);
        secrets.set(workspace, "other", "different", AuditOrigin.SERVER);
        sql("update secrets set sealed = (select sealed from secrets where name = 'token') where name = 'other'");

        assertFailsWith("SECRET_KEY_MISSING", () -> secrets.open(workspace, Set.of("other")));
    }

    @Test
    void aNewKeyTakesOverWhatAnOldOneSealed() {
        secrets.set(workspace, "token", "s3cret", AuditOrigin.SERVER);
        SealingKey next = SealingKey.fresh();

        assertFailsWith("SECRET_KEY_MISSING",
                () -> new SecretStore(database, next, List.of()).open(workspace, Set.of("token")));
        SecretStore both = new SecretStore(database, next, List.of(key));
        assertThat(both.open(workspace, Set.of("token")).values()).containsValue("s3cret");
        assertThat(both.reseal()).isEqualTo(1);
        assertThat(both.reseal()).isZero();
        assertThat(new SecretStore(database, next, List.of()).open(workspace, Set.of("token")).values())
                .containsValue("s3cret");
    }

    @Test
    void equalValuesAreSealedDifferently() {
        assertThat(key.seal("same", "c")).isNotEqualTo(key.seal("same", "c"));
    }

    @Test
    void aKeyIs32BytesInBase64() {
        assertThat(SealingKey.parse(Base64.getEncoder().encodeToString(new byte[32]))).isNotNull();
        assertThat(SealingKey.parse(Base64.getEncoder().encodeToString(new byte[31]))).isNull();
        assertThat(SealingKey.parse("no base64 !")).isNull();
        assertThat(key.toString()).isEqualTo("SealingKey " + key.id());
    }

    @Test
    void theKeyFileIsItsOwnersOnly(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("data").resolve("secret-key");

        SealingKey made = Objects.requireNonNull(SealingKey.ofFile(file));

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        assertThat(SealingKey.ofFile(file)).hasToString("SealingKey " + made.id());
        Files.write(file, new byte[] {(byte) 0xff, 0, 7});
        assertThat(SealingKey.ofFile(file)).isNull();
    }
}
