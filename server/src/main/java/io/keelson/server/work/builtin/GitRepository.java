package io.keelson.server.work.builtin;

import io.keelson.server.engine.tool.ToolFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The repository a folder belongs to, found without git, which would follow links and files out of the allowed
 * folders. Everything git will read must lie in them; the one exception is a linked work tree, whose repository
 * elsewhere names it in turn.
 *
 * @param workTree null for a bare repository
 */
record GitRepository(Path gitFolder, @Nullable Path workTree) {

    private static final int MAX_POINTER_BYTES = 10_000;

    /** @throws ToolFailure {@code NOT_A_REPOSITORY}, {@code PATH_NOT_ALLOWED} */
    static GitRepository find(Path folder, AllowedFolders folders) throws ToolFailure, IOException {
        for (Path each = folder; each != null && folders.contains(each); each = each.getParent()) {
            if (Files.exists(each.resolve(".git"))) {
                return of(each, folders);
            }
            if (Files.isRegularFile(each.resolve("HEAD")) && Files.isDirectory(each.resolve("objects"))) {
                checkInside(each, folders);
                return new GitRepository(each, null);
            }
        }
        throw ToolFailure.permanent("NOT_A_REPOSITORY", "no git repository at this path in the allowed folders");
    }

    private static GitRepository of(Path workTree, AllowedFolders folders) throws ToolFailure, IOException {
        Path entry = workTree.resolve(".git").toRealPath();
        Path gitFolder = Files.isDirectory(entry) ? entry : pointer(entry, "gitdir: ");
        if (gitFolder == null || !Files.isDirectory(gitFolder)) {
            throw ToolFailure.permanent("NOT_A_REPOSITORY", "the .git at this path refers to no repository");
        }
        gitFolder = gitFolder.toRealPath();
        Path back = pointer(gitFolder.resolve("gitdir"), "");
        boolean linked = back != null && Files.exists(back) && back.toRealPath().equals(entry);
        if (folders.refuses(gitFolder)) {
            throw outside();
        }
        if (!linked || folders.contains(gitFolder)) {
            checkInside(gitFolder, folders);
        }
        return new GitRepository(gitFolder, workTree);
    }

    private static void checkInside(Path gitFolder, AllowedFolders folders) throws ToolFailure, IOException {
        Path common = pointer(gitFolder.resolve("commondir"), "");
        Path shared = common == null ? gitFolder : common;
        check(gitFolder, folders);
        check(shared, folders);
        check(shared.resolve("objects"), folders);
        check(shared.resolve("refs"), folders);
        Path alternates = shared.resolve("objects/info/alternates");
        if (Files.exists(alternates)) {
            for (String line : Files.readAllLines(alternates, StandardCharsets.ISO_8859_1)) {
                check(shared.resolve("objects").resolve(line), folders);
            }
        }
    }

    private static void check(Path path, AllowedFolders folders) throws ToolFailure, IOException {
        if (Files.exists(path) && !folders.contains(path.toRealPath())) {
            throw outside();
        }
    }

    private static ToolFailure outside() {
        return ToolFailure.permanent("PATH_NOT_ALLOWED",
                "a part of the repository is outside of the allowed folders");
    }

    /** The path a one-line file names, relative to the file's folder; null when there is no such file. */
    private static @Nullable Path pointer(Path file, String prefix) throws IOException {
        if (!Files.isRegularFile(file) || Files.size(file) > MAX_POINTER_BYTES) {
            return null;
        }
        String line = Files.readString(file, StandardCharsets.UTF_8).strip();
        return line.startsWith(prefix)
                ? FileNames.resolve(Objects.requireNonNull(file.getParent()), line.substring(prefix.length()))
                        .normalize()
                : null;
    }

    /** Options that give git all paths, so that it does not search. */
    List<String> options() {
        return workTree == null
                ? List.of("--git-dir=" + gitFolder, "--bare")
                : List.of("--git-dir=" + gitFolder, "--work-tree=" + workTree);
    }
}
