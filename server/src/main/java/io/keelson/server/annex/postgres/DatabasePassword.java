package io.keelson.server.annex.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;

/** The embedded database's password: random, made once, in a file of mode 0600. */
final class DatabasePassword {

    private static final int BYTES = 32;

    private DatabasePassword() {}

    /** Reads the file; makes it first where absent, whole or not at all. */
    static String readOrCreate(Path file) {
        try {
            if (!Files.exists(file)) {
                var random = new byte[BYTES];
                new SecureRandom().nextBytes(random);
                Path unfinished = file.resolveSibling(file.getFileName() + ".new");
                Files.deleteIfExists(unfinished);
                Files.createFile(unfinished, PosixFilePermissions.asFileAttribute(FilePermissions.PRIVATE_FILE));
                Files.writeString(unfinished, Base64.getUrlEncoder().withoutPadding().encodeToString(random));
                Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
            }
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw DataDirectory.notWritable(file, e);
        }
    }
}
