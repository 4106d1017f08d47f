package io.keelson.server.outlet.backup;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** SHA-256 of files, and the file {@code SHA256SUMS}, which {@code sha256sum -c} reads, too. */
final class Digests {

    private static final Pattern LINE = Pattern.compile("([0-9a-f]{64})  ([\\w./-]{1,500})");

    private Digests() {}

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    static String of(Path file) throws IOException {
        MessageDigest digest = sha256();
        try (InputStream content = new DigestInputStream(Files.newInputStream(file), digest)) {
            content.transferTo(OutputStream.nullOutputStream());
        }
        return hex(digest);
    }

    /** The digest of the rest of a stream, which is not closed. */
    static String of(InputStream content) throws IOException {
        MessageDigest digest = sha256();
        new DigestInputStream(content, digest).transferTo(OutputStream.nullOutputStream());
        return hex(digest);
    }

    static String line(String sha256, String name) {
        return sha256 + "  " + name + "\n";
    }

    /**
     * Digests by name of a file, in the order of their lines.
     *
     * @throws BackupException BACKUP_DAMAGED
     */
    static Map<String, String> read(Path sums) throws IOException {
        Map<String, String> digests = new LinkedHashMap<>();
        try (BufferedReader lines = Files.newBufferedReader(sums)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher parts = LINE.matcher(line);
                if (!parts.matches() || parts.group(2).contains("..") || parts.group(2).contains("//")) {
                    throw BackupFolder.damage(sums + " has a line that names no file.", null);
                }
                digests.put(parts.group(2), parts.group(1));
            }
        } catch (NoSuchFileException e) {
            throw BackupFolder.damage(sums + " is missing.", e);
        }
        return digests;
    }
}
