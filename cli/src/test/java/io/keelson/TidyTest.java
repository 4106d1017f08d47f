package io.keelson;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bans that the compiler does not know, each with what to do instead. Reads every module's sources. */
class TidyTest {

    private static final Path ROOT = RepositoryFiles.ROOT;
    private static final Map<String, String> SOURCES = read();

    /** Words of translated English, and what to write instead. */
    private static final Map<String, String> PLAIN_WORDS = Map.ofEntries(
            entry("whoever", "the client, the holder, …: name it"), entry("whatever", "all, each, any: name it"),
            entry("somebody", "a user, an operator, another worker: name it"),
            entry("nobody", "no user, no worker: name it"),
            entry("anew", "again, or re-"), entry("stands", "is, is in"), entry("told", "sent, notified, shown"),
            entry("bears", "has, contains"), entry("goes by", "follows, uses"),
            entry("what becomes", "what happens to; as heading a noun"), entry("goes on", "continues"),
            entry("went on", "continued"), entry("heard of", "sent a request, sent a heartbeat"),
            entry("in the place of", "instead of"), entry("passed over", "skipped, ignored"),
            entry("set aside", "reserve, reserved"), entry("struck out", "redacted"));
    /** Small letters, or a capital at the beginning: {@code NoBody} is a name. */
    private static final Pattern DIALECT = Pattern.compile("\\b(?:" + PLAIN_WORDS.keySet().stream()
            .map(word -> "(?i:" + word.charAt(0) + ")" + word.substring(1).replace(" ", "\\s+"))
            .collect(Collectors.joining("|")) + ")\\b");

    /** Parts of pages that tests write from the code, where the words are counted. */
    private static final Pattern GENERATED =
            Pattern.compile("<!-- generated: .*?<!-- end of generated part -->", Pattern.DOTALL);

    /** @param where a pattern on the path from the repository's root */
    private record Ban(String what, String where, String instead) {}

    static Stream<Ban> bans() {
        return Stream.of(
                new Ban("Thread\\.sleep|TimeUnit\\.\\w+\\.sleep", ".*/src/test/.*",
                        "wait for a named moment: a latch, a future, a row; Awaitility where polling a process is inherent"),
                new Ban("@Disabled", ".*", "fix the test or delete it"),
                new Ban("//.*\\b(TODO|FIXME|XXX)\\b", ".*/src/main/.*", "do it, or open an issue"),
                new Ban("import org\\.(mockito|easymock)", ".*", "use the real thing: a database starts in a second"),
                new Ban("printStackTrace\\(", "(?!cli/src/main/java/io/keelson/cli/Cli.java).*",
                        "log it with slf4j, the exception as last argument"),
                new Ban("System\\.(out|err)\\.print", "(core|client|devmodel|server)/src/main/.*",
                        "log with slf4j, which writes to stderr: stdout belongs to the command line's answers"),
                new Ban("import [\\w.]+\\.\\*;", ".*", "name what you import"),
                new Ban("(?<!RFC \\d{4} )§ ?\\d", ".*", "say the rule, or link a page of docs/"),
                new Ban("static final .*\\b(A_WHILE|LOOKS?|MOST(?!_RECENT)(_\\w+)?|(\\w+_)?PATIENCE|PIECE|PLACES|SOON|STRETCH) =",
                        ".*/src/main/.*",
                        "POLL_INTERVAL, MAX_…, …_TIMEOUT, CHUNK_SIZE, SCALE, RETRY_DELAY: say what it is"),
                new Ban("/\\*\\*\\s+(\\* )?(Of|Something|Such|Those|What|Who|Whose) ",
                        "(core|client|devmodel|server|cli)/src/main/.*",
                        "begin with a noun or a verb: The answer of …, Reads …; see Language in CONTRIBUTING.md"),
                new Ban("\\b([Nn]ull|[Ee]mpty|0|zero)\\s+(\\* )?for\\s+(\\* )?none\\b", ".*/src/main/.*",
                        "null if absent"),
                new Ban("description =\\s*\\{?\\s*\"(Of|As|For|Only|All|Its) ",
                        "cli/src/main/.*",
                        "begin with a noun or a verb: Price of …, Show only …"),
                new Ban("import com\\.fasterxml\\.jackson\\.(core|databind)",
                        ".*/src/main/.*",
                        "Jackson 3 is tools.jackson"));
    }

    /** The text of comments in main Java, a line each. */
    private static final List<String> COMMENTS = main().flatMap(TidyTest::comments).toList();
    /** The names of methods declared in main Java. */
    private static final List<String> METHODS = main().flatMap(text -> names(
            "(?m)^ +(?:(?:public|protected|private|static|final|abstract|default|synchronized) )*+"
                    + "(?:<[^>\\n]+> )?(?!return |new |throw |else |case |yield )[A-Za-z][\\w.<>\\[\\], ?@]* ([a-z]\\w*)\\(",
            text.replaceAll("(?s)\"{3}.*?\"{3}", ""))).toList();
    /** The names of test methods. */
    private static final List<String> TESTS = SOURCES.keySet().stream().filter(path -> path.contains("/src/test/"))
            .flatMap(path -> names("@(?:Parameterized)?Test\\b[^;{]*?\\bvoid (\\w+)\\(", SOURCES.get(path))).toList();

    /**
     * A construction that leaves out its noun.
     *
     * @param allowed the number of places that still have it; never raised
     */
    private record Habit(String name, List<String> texts, String construction, int allowed, String instead) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Habit> habits() {
        return Stream.of(
                new Habit("P1 repetition", COMMENTS, "\\b(?:The same|Likewise|As \\{@link)\\b", 8,
                        "name the subject and the difference; without a difference delete the overload or the comment"),
                new Habit("P2 none as a noun", COMMENTS,
                        "\\b(?:for none|(?<![Tt]here )is none|was none|none of)\\b", 16,
                        "null if absent"),
                new Habit("P3 relative clause", COMMENTS,
                        "\\b(?:[Ww]hat (?:it|is|they|was|were|the|a|an|has)|[Tt]hose (?:that|who|which|of)"
                                + "|[Oo]nes? (?:that|who|which)|of it)\\b",
                        53, "use the noun, or the term of docs/concepts/glossary.md"),
                new Habit("P4 verbs of people", COMMENTS,
                        "\\b(?:says?|said|asks?|asked|looks?|knows?|ha[sd] got)\\b", 405,
                        "data contains and specifies, code requires, requests and reads"),
                new Habit("P5 where, beside, so many", COMMENTS,
                        "[,;:.] [Ww]here\\b|\\bbeside\\b|\\bso (?:much|many)\\b", 132,
                        "if; in addition to; that amount, that number"),
                new Habit("P6 participles as names of methods", METHODS,
                        "^(?:again|answered|asked|begun|counted|done|elsewhere|given|gone|held|joined|judged|kept|known|later"
                                + "|least|left|listed|lost|made|meanwhile|named|noted|now|once|passed|refused|said|seen|sent|served"
                                + "|shown|stored|taken|twice|used|waited|wanted|works)$",
                        253, "verb and object; a method that returns an exception is …Failure"),
                new Habit("P7 is no", COMMENTS, "(?<![Tt]here )\\b(?:is|are|was|were) no [a-z]|[Nn]either .{1,40} nor",
                        91,
                        "is not a …"),
                new Habit("P9 pronouns in names of tests", TESTS,
                        "^(?:it|its|they|those|these)(?=[A-Z])|[oO]neThat|Those|They|AsItIs|(?:It|Them)$", 3,
                        "name the subject: expiredLeaseIsReclaimedOnce"));
    }

    @ParameterizedTest
    @MethodSource("habits")
    void constructionsWithoutANounBecomeFewer(Habit habit) {
        Pattern construction = Pattern.compile(habit.construction);
        List<String> found = habit.texts.stream()
                .flatMap(text -> construction.matcher(text).results().map(each -> around(text, each))).toList();
        assertThat(found.size()).as("%s: %s%n%s", habit.name, habit.instead, String.join("\n", found))
                .isLessThanOrEqualTo(habit.allowed);
        assertThat(found.size()).as("%s became fewer: lower the number in its row to %d", habit.name, found.size())
                .isGreaterThanOrEqualTo(habit.allowed - 10);
    }

    @ParameterizedTest
    @MethodSource("bans")
    void nothingBannedIsWritten(Ban ban) {
        Pattern what = Pattern.compile(ban.what);
        List<String> found = new ArrayList<>();
        SOURCES.forEach((path, text) -> {
            if (path.matches(ban.where) && !path.endsWith("/TidyTest.java")) {
                Matcher matcher = what.matcher(text);
                while (matcher.find()) {
                    found.add(path + ":" + line(text, matcher.start()) + " " + matcher.group());
                }
            }
        });
        assertThat(found).as(ban.instead).isEmpty();
    }

    /** A source file without a type has no class file, and Maven then compiles its module each time. */
    @Test
    void everySourceFileDeclaresAType() {
        List<String> empty = SOURCES.keySet().stream()
                .filter(path -> path.endsWith(".java") && SOURCES.get(path).isBlank()).toList();
        assertThat(empty).as("delete it").isEmpty();
    }

    /** SQL names a table only in the package that owns it. */
    @Test
    void aTableIsNamedOnlyByItsOwner() {
        Map<String, String> owners = new HashMap<>(Map.of(
                "workspaces|api_keys|principals|workspace_limits|approval_rules|operator_audit",
                "(auth|workspace|audit)",
                "orchestration_\\w+|run_event_packs\\w*|event_exports|event_watermark|run_attempts|run_agents|work_results|step_results|artifacts|artifact_uploads|artifact_reservations"
                        + "|upload_slots|work_queue|work_messages|work_rates|tool_versions|run_tool_versions|result_cache|result_waits|timers|step_logs|step_progress|engine_nodes|engine_outages"
                        + "|escalation_tickets|workers|inbox_assignments|proposals|call_waits|gateway_\\w+",
                "store", "workflow_recipes|recipe_versions", "recipe", "schedules|schedule_ticks", "schedule",
                "bulk_jobs", "bulk",
                "webhook_\\w+", "webhook",
                "execution_commands|simulated_effects", "effect",
                "billing_ledger|credit_\\w+|prices",
                "(money|store)", "board_tasks|agent_reports", "(board|store)", "status_document_progress",
                "statusdoc"));
        owners.put("mcp_\\w+", "mcp");
        owners.put("triggers|trigger_\\w+", "trigger");
        owners.put("federated_\\w+|sign_in_states", "auth");
        owners.put("database_losses", "history");
        owners.put("archive_objects|archive_deletions|archived_\\w+|restored_runs", "store");
        owners.put("installation_backups", "backup");
        // The inbox is a query over all that waits for people.
        // Claims and their explanation read the limits of concurrent work; the artifact quota reads its limit under its
        // lock. The ledger verification compares the ledger with the runs' own amounts in one snapshot.
        // Adoption has a list of triggers of PostgreSQL.
        Set<String> exempt = Set.of("server/src/main/java/io/keelson/server/engine/store/read/InboxSql.java mcp_tools",
                "server/src/main/java/io/keelson/server/engine/store/read/InboxSql.java triggers",
                "server/src/main/java/io/keelson/server/engine/store/read/InboxSql.java trigger_deliveries",
                "server/src/main/java/io/keelson/server/base/db/Adoption.java triggers",
                "server/src/main/java/io/keelson/server/engine/store/queue/Backlog.java mcp_tools",
                "server/src/main/java/io/keelson/server/engine/store/WorkLimits.java workspace_limits",
                "server/src/main/java/io/keelson/server/engine/store/SharedModelRates.java workspace_limits",
                "server/src/main/java/io/keelson/server/engine/store/WorkLimits.java workspaces",
                // A run waits for its commands and webhooks before it is archived.
                "server/src/main/java/io/keelson/server/engine/store/archive/ArchiveQueries.java workspaces",
                "server/src/main/java/io/keelson/server/engine/store/archive/ArchiveQueries.java webhook_endpoints",
                "server/src/main/java/io/keelson/server/engine/store/archive/ArchiveQueries.java webhook_feed",
                "server/src/main/java/io/keelson/server/engine/store/archive/ArchiveQueries.java execution_commands",
                // A purged workspace lost its runs on purpose.
                "server/src/main/java/io/keelson/server/engine/store/read/KnownEvents.java workspaces",
                "server/src/main/java/io/keelson/server/engine/store/read/Explainer.java workspace_limits",
                "server/src/main/java/io/keelson/server/engine/store/retention/ArtifactQuota.java workspace_limits",
                "server/src/main/java/io/keelson/server/tenant/money/LedgerVerification.java work_results",
                "server/src/main/java/io/keelson/server/tenant/money/LedgerVerification.java run_attempts",
                "server/src/main/java/io/keelson/server/tenant/money/LedgerVerification.java orchestration_steps",
                "server/src/main/java/io/keelson/server/tenant/money/LedgerVerification.java orchestration_runs");
        List<String> found = new ArrayList<>();
        owners.forEach((tables, owner) -> {
            Pattern sql =
                    Pattern.compile("\\b(?:from|join|update|into)\\s+(" + tables + ")\\b", Pattern.CASE_INSENSITIVE);
            SOURCES.forEach((path, text) -> {
                Matcher matcher = sql.matcher(text);
                while (path.contains("/src/main/") && matcher.find()) {
                    String table = matcher.group(1);
                    if (!path.matches(".*/server/\\w+/" + owner + "/.*") && !exempt.contains(path + " " + table)) {
                        found.add(
                                path + ":" + line(text, matcher.start()) + " " + table + " belongs to server." + owner);
                    }
                }
            });
        });
        assertThat(found).as("ask the owner's reader, or send a command").isEmpty();
    }

    @Test
    void everyPackageIsDescribedAndNullMarked() {
        List<String> missing = SOURCES.keySet().stream().filter(path -> path.contains("/src/main/"))
                .map(path -> path.substring(0, path.lastIndexOf('/'))).distinct()
                .filter(folder -> !SOURCES.getOrDefault(folder + "/package-info.java", "")
                        .matches("(?s)/\\*\\*.*\\*/\\s*@NullMarked.*"))
                .toList();
        assertThat(missing).as("add a package-info.java that says what the package is for, with @NullMarked").isEmpty();
    }

    /** {@code nobody} is a user of Unix where privileges are dropped. */
    @Test
    void nothingHasDialectWords() {
        List<String> found = new ArrayList<>();
        files(ROOT, path -> path.endsWith(".md") || path.matches(".*/src/(main|test)/.*\\.(java|js|sql|yaml|json|sh)")
                || path.matches("(examples|deploy|scripts|config)/.*")).forEach((path, text) -> {
                    if (!path.matches(".*/(TidyTest|Privileges|PrivilegesTest)\\.java")) {
                        found.addAll(dialect(path, GENERATED.matcher(text).replaceAll(TidyTest::blank)));
                    }
                });
        assertThat(found).as("rewrite the sentence, its subject a named thing; see Language in CONTRIBUTING.md")
                .isEmpty();
    }

    @Test
    void sentencesOfPagesHaveANamedSubject() {
        Pattern headless = Pattern.compile("(?m)(?:^|[.:;] |\\| |- )(?:What|Who) [a-z]+ (?![^.]*\\?)");
        List<String> found = new ArrayList<>();
        files(ROOT, path -> path.endsWith(".md")).forEach((path, text) -> headless
                .matcher(text).results()
                .forEach(each -> found.add(path + ":" + line(text, each.end()) + each.group())));
        assertThat(found).as("name the component, the table or the client; see Language in CONTRIBUTING.md").isEmpty();
    }

    /** Paths of recipes may leave out the middle ({@code core/…/run/Command.java}) or the package's beginning. */
    @Test
    void filesAndTestsNamedForContributorsExist() {
        Set<String> paths = files(ROOT, path -> path.matches(".*\\.(java|sql|yaml|md)")).keySet();
        files(ROOT, path -> path.matches("(CONTRIBUTING|ARCHITECTURE)\\.md")).forEach((page, text) -> Pattern
                .compile("`([\\w./…]+\\.(?:java|sql|yaml|md))`|(?<!\\*)\\b(\\w+Test)\\b").matcher(text).results()
                .forEach(named -> {
                    String path = named.group(1) == null ? named.group(2) + ".java" : named.group(1);
                    Pattern end = Pattern.compile("(?:^|/)" + path.replace(".", "\\.").replace("…", ".*") + "$");
                    assertThat(paths).as(page + " names " + path).anyMatch(each -> end.matcher(each).find());
                }));
    }

    private static Stream<String> main() {
        return SOURCES.keySet().stream().filter(path -> path.contains("/src/main/")).map(SOURCES::get);
    }

    /** Strings are matched to be skipped. */
    private static Stream<String> comments(String source) {
        return Pattern
                .compile("""
                /\\*.*?\\*/|//[^\\n]*+(?:\\n[ \\t]*+//[^\\n]*+)*+\\
                |\"""(?:.*?)(?<!\\\\)\"""|"[^"\\\\\\n]*+(?:\\\\.[^"\\\\\\n]*+)*+"|'(?:\\\\.|[^'\\\\])'""",
                        Pattern.DOTALL)
                .matcher(source).results().map(MatchResult::group).filter(text -> text.startsWith("/"))
                .map(text -> text.replaceAll("\\n[ \\t]*(?:\\*(?!/)|//)?", " ").replaceAll("\\s+", " "));
    }

    private static Stream<String> names(String declaration, String source) {
        return Pattern.compile(declaration).matcher(source).results().map(each -> each.group(1));
    }

    private static String around(String text, MatchResult part) {
        return text.substring(Math.max(0, part.start() - 40), Math.min(text.length(), part.end() + 40));
    }

    private static List<String> dialect(String path, String text) {
        return DIALECT.matcher(text).results().map(word -> path + ":" + line(text, word.start()) + " " + word.group()
                + " → " + PLAIN_WORDS.get(word.group().toLowerCase(Locale.ROOT).replaceAll("\\s+", " "))).toList();
    }

    /** Line breaks stay, for the numbers of lines behind. */
    private static String blank(MatchResult part) {
        return part.group().replaceAll(".+", "");
    }

    private static int line(String text, int offset) {
        return 1 + (int) text.substring(0, offset).chars().filter(c -> c == '\n').count();
    }

    private static Map<String, String> files(Path folder, Predicate<String> wanted) {
        Map<String, String> texts = new TreeMap<>();
        try {
            for (Path file : RepositoryFiles.below(folder, each -> wanted.test(ROOT.relativize(each).toString()))) {
                texts.put(ROOT.relativize(file).toString(), Files.readString(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return texts;
    }

    private static Map<String, String> read() {
        Map<String, String> sources = new TreeMap<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(folder -> Files.exists(folder.resolve("pom.xml"))).toList()) {
                try (Stream<Path> files = Files.walk(module.resolve("src"))) {
                    for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                        sources.put(ROOT.relativize(file).toString(), Files.readString(file));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sources;
    }
}
