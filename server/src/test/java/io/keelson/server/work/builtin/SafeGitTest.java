package io.keelson.server.work.builtin;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

@Breadth.Spread
@Timeout(120)
class SafeGitTest {

    @TempDir
    Path base;
    private Path repository;
    private Calls calls;

    @BeforeEach
    void makeRepository() throws Exception {
        base = base.toRealPath();
        repository = Files.createDirectories(base.resolve("allowed/repo"));
        shell(repository, """
                git init -q -b main . && git config user.email a@example.org && git config user.name A
                echo one > a.txt && mkdir sub && echo two > sub/b.txt && git add . && git commit -qm first
                echo more >> a.txt && git commit -qam second && git tag v1 && git branch other""");
        calls = new Calls(ToolPolicy.of(List.of(base.resolve("allowed"))), base.resolve("artifacts"));
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "repo     => rev-list --count HEAD        => 2",
            "repo     => log --format=%s              => second\\nfirst",
            "repo/sub => log --format=%s -- b.txt     => first",
            "repo     => shortlog -sn HEAD            => 2\tA",
            "repo     => ls-files                     => a.txt\\nsub/b.txt",
            "repo     => branch --format=%(refname:short) => main\\nother",
            "repo     => branch --show-current        => main",
            "repo     => tag                          => v1",
            "repo     => describe --tags              => v1",
            "repo     => show -s --format=%an HEAD    => A",
            "repo     => diff --stat HEAD~1 HEAD -- a.txt => a.txt | 1 +\\n 1 file changed, 1 insertion(+)",
            "repo     => status --porcelain           => ``",
            "repo     => cat-file -p HEAD:sub/b.txt   => two",
            "repo     => rev-parse --show-toplevel    => @/allowed/repo",
            "repo     => diff --text HEAD~1 HEAD --name-only => a.txt",
    })
    void readsTheHistory(String cwd, String arguments, String expected) {
        assertThat(stdout(cwd, arguments.split(" ")).strip())
                .isEqualTo(expected.replace("\\n", "\n").replace("@", base.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit -m x", "-c core.pager=x log", "--exec-path=/tmp log", "config -l", "grep x",
            "fetch",
            "ls-remote .", "log --output=/tmp/x", "log --outp=x", "diff --no-index /etc/passwd /dev/null",
            "diff /etc/passwd /etc/group", "diff ../../x a.txt", "diff --ext-diff", "log --textc",
            "cat-file --filters x",
            "cat-file --textconv HEAD:a.txt", "blame --contents /etc/passwd a.txt", "blame -S/etc/passwd a.txt",
            "log --help", "ls-files -X /etc/passwd", "ls-files --exclude-from=/etc/passwd", "rev-list --alternate-refs",
            "log --git-dir=/x", "status --recurse-submodules", "", "diff -O/etc/passwd",
            "blame --ignore-revs-file=x a.txt"})
    void refusesWhatWritesExecutesOrReadsElsewhere(String arguments) {
        assertThat(failure("repo", arguments.isEmpty() ? new String[0] : arguments.split(" ")))
                .isEqualTo("ARGUMENT_NOT_ALLOWED");
    }

    @ParameterizedTest
    @ValueSource(strings = {"branch new", "branch -D other", "branch -m x y", "tag v2", "tag -d v1", "tag -a v3 -m x",
            "branch --unset-upstream"})
    void branchAndTagOnlyList(String arguments) throws Exception {
        String before = shell(repository, "git for-each-ref");
        try {
            calls.execute("process.run", input("repo", arguments.split(" ")));
        } catch (ToolFailure e) {
            assertThat(e.code()).isEqualTo("PROCESS_EXIT_NONZERO");
        }
        assertThat(shell(repository, "git for-each-ref")).isEqualTo(before);
    }

    @Test
    void programsNamedByAHostileRepositoryDoNotRun() throws Exception {
        Path marks = Files.createDirectories(base.resolve("marks"));
        String[] keys = {"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.alternateRefsCommand",
                "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge",
                "filter.evil.process", "filter.e=v il.clean", "merge.evil.driver", "gpg.program", "gpg.ssh.program",
                "gpg.openpgp.program", "gpg.x509.program", "alias.log", "man.evil.cmd", "browser.evil.cmd"};
        for (String key : keys) {
            String mark = key.replaceAll("\\W", "_");
            git("config", key, script(marks.resolveSibling(mark + ".sh"), "touch " + marks.resolve(mark)));
        }
        shell(repository, """
                signed=$(git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\
                 \\
                 x\\
                 -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin)
                git update-ref HEAD $signed""");
        git("config", "log.showSignature", "true");
        git("config", "core.worktree", "/etc");
        Files.writeString(repository.resolve(".gitattributes"), "a.txt diff=evil filter=evil merge=evil\n"
                + "sub/b.txt filter=\"e=v il\"\n");
        Files.writeString(repository.resolve("a.txt"), "changed\n");
        Files.writeString(repository.resolve("sub/b.txt"), "changed\n");
        Files.createDirectories(repository.resolve(".git/hooks"));
        for (String hook : List.of("post-index-change", "pre-auto-gc", "reference-transaction")) {
            script(repository.resolve(".git/hooks/" + hook), "touch " + marks.resolve(hook));
        }
        shell(repository, "git -c core.worktree=" + repository + " status >/dev/null 2>&1 || true");
        assertThat(marksIn(marks)).as("the trap works where nothing guards").isNotEmpty();
        shell(marks, "rm -f *");

        for (String arguments : List.of("status", "status -v", "diff", "diff HEAD~1 HEAD", "log -p",
                "log --format=%G?%GS",
                "show HEAD", "show --show-signature HEAD", "blame a.txt", "ls-files -m", "describe --tags --dirty",
                "log -p -G one", "shortlog HEAD", "branch", "tag", "rev-list --all", "log --remerge-diff",
                "for-each-ref --format=%(refname)", "cat-file -p HEAD:a.txt")) {
            try {
                assertThat(calls.execute("process.run", input("repo", arguments.split(" "))).output().toString())
                        .doesNotContain("root:x:0");
            } catch (ToolFailure e) {
                assertThat(e.code()).isEqualTo("PROCESS_EXIT_NONZERO");
            }
        }
        assertThat(marksIn(marks)).isEmpty();
        assertThat(stdout("repo", "diff", "--name-only").strip()).contains("a.txt").contains("sub/b.txt");
    }

    @Test
    void aRepositoryOutsideOfTheAllowedFoldersIsNotReached() throws Exception {
        Path outside = Files.createDirectories(base.resolve("outside"));
        shell(outside, "git init -q . && git -c user.name=A -c user.email=a@b commit -q --allow-empty -m secret");
        Path allowed = base.resolve("allowed");
        shell(base, "git init -q .");
        assertThat(failure(".", "log")).isEqualTo("NOT_A_REPOSITORY");

        pretend("file", "gitdir: " + outside.resolve(".git"));
        assertThat(failure("file", "log")).isEqualTo("PATH_NOT_ALLOWED");

        Files.createSymbolicLink(Files.createDirectories(allowed.resolve("link")).resolve(".git"),
                outside.resolve(".git"));
        assertThat(failure("link", "log")).isEqualTo("PATH_NOT_ALLOWED");

        Files.writeString(repository.resolve(".git/commondir"), outside.resolve(".git").toString());
        assertThat(failure("repo", "log")).isEqualTo("PATH_NOT_ALLOWED");
        Files.delete(repository.resolve(".git/commondir"));

        Files.writeString(repository.resolve(".git/objects/info/alternates"), outside.resolve(".git/objects") + "\n");
        assertThat(failure("repo", "log")).isEqualTo("PATH_NOT_ALLOWED");
    }

    @Test
    void aLinkedWorkTreeOfARepositoryElsewhereIsRead() throws Exception {
        Path main = Files.createDirectories(base.resolve("main"));
        shell(main, "git init -q . && git -c user.name=A -c user.email=a@b commit -q --allow-empty -m there"
                + " && git worktree add -q ../allowed/tree");
        assertThat(stdout("tree", "log", "--format=%s").strip()).isEqualTo("there");
    }

    private void pretend(String name, String content) throws IOException {
        Files.writeString(Files.createDirectories(base.resolve("allowed/" + name)).resolve(".git"), content);
    }

    private static String script(Path file, String command) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + command + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file.toString();
    }

    private static List<String> marksIn(Path marks) throws IOException {
        try (Stream<Path> files = Files.list(marks)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private String stdout(String cwd, String... arguments) {
        return calls.output("process.run", input(cwd, arguments)).get("stdout").stringValue();
    }

    private String failure(String cwd, String... arguments) {
        return calls.failure("process.run", input(cwd, arguments)).code();
    }

    private static String input(String cwd, String... arguments) {
        List<String> argv = Stream.concat(Stream.of("git"), Arrays.stream(arguments)).toList();
        return "{\"cwd\": \"" + cwd + "\", \"argv\": " + JsonMapper.shared().writeValueAsString(argv) + "}";
    }

    private void git(String... arguments) throws Exception {
        List<String> argv = Stream.concat(Stream.of("git"), Arrays.stream(arguments)).toList();
        assertThat(new ProcessBuilder(argv).directory(repository.toFile()).inheritIO().start().waitFor()).isZero();
    }

    private static String shell(Path folder, String script) throws Exception {
        Process process =
                new ProcessBuilder("sh", "-ec", script).directory(folder.toFile()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
