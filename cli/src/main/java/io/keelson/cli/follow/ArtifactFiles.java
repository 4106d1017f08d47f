package io.keelson.cli.follow;

import io.keelson.api.run.Artifact;
import io.keelson.cli.common.CliException;
import io.keelson.client.Runs;
import io.keelson.server.base.problem.FileProblems;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Artifacts as files in a folder. */
public final class ArtifactFiles {

    private ArtifactFiles() {}

    /** Makes the folder. @throws CliException where files cannot be written to it */
    public static void prepare(Path folder) {
        try {
            Files.createDirectories(folder);
            Files.delete(Files.createTempFile(folder, ".keelson", null));
        } catch (IOException e) {
            throw CliException.usage("OUT_NOT_WRITABLE", "cannot write to the folder " + folder + " of --out: "
                    + FileProblems.reason(e));
        }
    }

    /**
     * Copies contents that are still kept to the folder, in place of files of the same names. Where several artifacts have one name, the
     * later ones get a number before it.
     *
     * @return where each went
     */
    public static Map<Artifact, Path> copy(Runs runs, List<Artifact> artifacts, Path folder) throws IOException {
        Files.createDirectories(folder);
        Map<Artifact, Path> copies = new LinkedHashMap<>();
        Set<String> taken = new HashSet<>();
        for (Artifact artifact : artifacts.stream().filter(each -> each.deletedAt() == null).toList()) {
            Path target = folder.resolve(fileName(artifact.name(), taken));
            try (InputStream content = runs.content(artifact)) {
                Files.copy(content, target, StandardCopyOption.REPLACE_EXISTING);
            }
            copies.put(artifact, target);
        }
        return copies;
    }

    /** A plain file name, never a path, for any name from a server. */
    public static String fileName(String name, Set<String> taken) {
        String plain = name.replaceAll("[/\\\\\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "_");
        String base = plain.isBlank() || plain.equals(".") || plain.equals("..") ? "artifact" : plain;
        String candidate = base;
        for (int number = 2; !taken.add(candidate); number++) {
            candidate = number + "-" + base;
        }
        return candidate;
    }
}
