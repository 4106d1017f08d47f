package io.keelson.server.outlet.backup;

import io.keelson.server.base.db.MigrationFile;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The schema at a version.
 *
 * @param version the number of its last migration file
 * @param checksum of the files
 * @param tables that the files create, in their order; without unlogged ones, which a crash empties
 */
record SchemaTables(int version, String checksum, List<String> tables) {

    private static final Pattern CREATED =
            Pattern.compile("^create table (?:if not exists )?(\\w+)", Pattern.MULTILINE | Pattern.CASE_INSENSITIVE);
    private static final Pattern DROPPED =
            Pattern.compile("^drop table (?:if exists )?(\\w+)", Pattern.MULTILINE | Pattern.CASE_INSENSITIVE);

    /** @param all the migration files of this build */
    static SchemaTables at(int version, List<MigrationFile> all) {
        List<MigrationFile> files = all.stream().filter(file -> file.version() <= version).toList();
        List<String> dropped = files.stream().flatMap(file -> names(DROPPED, file)).toList();
        String checksums = String.join(" ",
                files.stream().map(file -> file.version() + ":" + Integer.toHexString(file.checksum())).toList());
        return new SchemaTables(version,
                HexFormat.of().formatHex(Digests.sha256().digest(checksums.getBytes(StandardCharsets.US_ASCII))),
                files.stream().flatMap(file -> names(CREATED, file)).distinct().filter(name -> !dropped.contains(name))
                        .toList());
    }

    private static Stream<String> names(Pattern pattern, MigrationFile file) {
        return pattern.matcher(file.text()).results().map(found -> found.group(1));
    }
}
