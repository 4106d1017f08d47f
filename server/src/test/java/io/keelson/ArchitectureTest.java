package io.keelson;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.keelson.server.Server;
import io.keelson.server.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Clock;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.ObjectMapper;

/** The packages of ARCHITECTURE.md, and which may know which. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar")).importPackages("io.keelson");

    /** Package | the packages that it may know, below {@code io.keelson}, sub-packages included. */
    @ParameterizedTest(name = "{0} may know {1}")
    @CsvSource(delimiter = '|', nullValues = "nothing", value = {
            "core.lifecycle   | nothing",
            "core.policy      | nothing",
            "core.money       | nothing",
            "core.plan        | core.money core.policy",
            "core.run         | core.lifecycle core.money core.plan core.policy",
            "core.decide      | core.lifecycle core.money core.plan core.policy core.run",
            "core.schedule    | nothing",
            "client           | nothing",
            "server.json      | nothing",
            "server.db        | nothing",
            "server.log       | nothing",
            "server.background | nothing",
            "server.live      | server.background server.db",
            "server.compute   | nothing",
            "server.expr      | server.compute server.json",
            "server.artifact  | server.json",
            "server.outbound  | nothing",
            "server.tool      | core.money core.policy server.artifact server.compute server.expr server.json server.outbound",
            "server.plan      | core server.expr server.json server.tool",
            "server.model     | core.money core.plan core.policy server.compute server.json server.outbound server.plan"
                    + " server.tool",
            "server.mcp       | core.plan core.policy server.artifact server.audit server.background server.db server.json"
                    + " server.outbound server.plan server.run server.secret server.tool",
            "server.run       | core server.db server.json",
            "server.audit     | server.db server.json",
            "server.workspace | server.audit server.db server.json",
            "server.auth      | server.audit server.workspace server.background server.db server.json",
            "server.money     | core.lifecycle core.money core.run server.db",
            "server.secret    | server.audit server.db server.json",
            "server.board     | core.lifecycle server.db",
            "server.roster    | core.plan core.policy server.audit server.db server.json server.tool",
            "server.recipe    | server.db server.json",
            "server.statusdoc | core.lifecycle server.artifact server.background server.json server.run server.db",
            "server.schedule  | core.run core.schedule server.background server.db server.json",
            "server.effect    | core.policy server.audit server.background server.db server.json server.outbound"
                    + " server.tool",
            "server.webhook   | core.run server.audit server.background server.db server.json server.outbound"
                    + " server.run server.secret",
            "server.engine    | core server.run server.db server.compute server.expr server.tool server.artifact"
                    + " server.secret server.json server.live server.log server.background",
            "server.bulk      | core.lifecycle core.run server.audit server.background server.db server.engine server.json server.run",
            "server.purge     | core.run server.background server.db server.engine server.run server.workspace",
            "server.submission | core server.plan server.engine server.run server.recipe server.schedule server.tool"
                    + " server.bulk server.money server.workspace server.db server.json",
            "server.picture   | server.json server.run",
            "server.web       | server.json",
            "server.view      | server.db",
            "server.http      | core server.engine server.run server.plan server.tool server.artifact server.audit"
                    + " server.workspace server.auth server.purge server.submission server.money server.secret"
                    + " server.recipe server.schedule server.bulk server.webhook server.effect server.roster"
                    + " server.picture server.web server.view server.board server.compute server.mcp server.live server.model server.db server.json"
                    + " server.log server.background",
            "server.metrics   | core server.background server.engine server.http server.run server.tool server.webhook server.db",
            "server.trace     | core server.engine server.http server.webhook",
            "cli              | client core.lifecycle core.plan core.policy server.json server.model server.plan server.tool server.db",
    })
    void packageDependsOnLowerPackagesOnly(String name, String known) {
        String[] allowed =
                Stream.concat(Stream.of(name), Stream.ofNullable(known).flatMap(k -> Arrays.stream(k.split(" "))))
                        .map(each -> "io.keelson." + each + "..").toArray(String[]::new);
        DescribedPredicate<com.tngtech.archunit.core.domain.JavaClass> elsewhere = resideInAPackage("io.keelson..")
                .and(DescribedPredicate.not(resideInAnyPackage(allowed)));
        if (name.equals("cli")) {
            elsewhere = elsewhere.and(DescribedPredicate.not(resideInAPackage("io.keelson.server")));
        }
        noClasses().that().resideInAPackage("io.keelson." + name + "..").should().dependOnClassesThat(elsewhere)
                .because("a run goes one hop down and never back; pass the other package's result in by a parameter, "
                        + "or let the io.keelson.server wiring join the two (ARCHITECTURE.md, packages)")
                .allowEmptyShould(true).check(CLASSES);
    }

    /** Sub-package | its siblings that it may know; {@code .} is their parent. */
    @ParameterizedTest(name = "{0} may know {1}")
    @CsvSource(delimiter = '|', nullValues = "nothing", value = {
            "server.engine.commit | nothing",
            "server.engine.execute | commit",
            "server.engine.dispatch | commit execute",
            "server.engine.upkeep | commit execute dispatch",
            "server.run.sql   | nothing",
            "server.run.queue | sql",
            "server.run.retention | sql",
            "server.run.read  | . sql",
            "server.http.support | nothing",
            "server.http.runs | support",
            "server.http.streams | support",
            "server.http.inbox | support runs",
            "server.http.definitions | support runs",
            "server.http.mcp  | support runs inbox",
            "server.http.workers | support",
            "server.http.commands | support",
            "server.http.billing | support",
            "server.http.admin | support",
            "server.db.embedded | .",
            "server.tool.builtin | .",
            "server.mcp.wire  | nothing",
            "server.model.registry | .",
            "server.model.wire | .",
            "server.model.call | . registry",
            "server.model.turn | . call registry",
            "server.model.coordination | . call registry",
            "cli.view         | nothing",
            "cli.common       | view",
            "cli.follow       | common view",
            "cli.control      | common follow view",
            "cli.runs         | common follow view",
            "cli.inbox        | common control follow view",
            "cli.definitions  | common view",
            "cli.commands     | common view",
            "cli.billing      | common view",
            "cli.admin        | common view",
            "cli.authoring    | common view",
            "cli.devmodel     | common",
            "cli.models       | common view",
    })
    void subPackageDependsOnLowerOnesOnly(String name, String known) {
        String parent = name.substring(0, name.lastIndexOf('.'));
        String[] allowed = Stream
                .concat(Stream.of(name), Stream.ofNullable(known).flatMap(k -> Arrays.stream(k.split(" "))).map(
                        k -> k.equals(".") ? parent : parent + "." + k))
                .map(each -> "io.keelson." + each).toArray(String[]::new);
        noClasses().that().resideInAPackage("io.keelson." + name).should()
                .dependOnClassesThat(resideInAPackage("io.keelson." + parent + "..")
                        .and(DescribedPredicate.not(resideInAnyPackage(allowed))))
                .because("sub-packages of one package stay apart; move what two of them share into the one below them")
                .check(CLASSES);
    }

    @Test
    void everyPackageHasARowHereAndInTheArchitecture() throws Exception {
        Set<String> rows = Stream.of("packageDependsOnLowerPackagesOnly", "subPackageDependsOnLowerOnesOnly")
                .flatMap(ArchitectureTest::rows).collect(Collectors.toSet());
        String page = Files.readString(Path.of("..", "ARCHITECTURE.md"));

        assertThat(CLASSES.stream().map(each -> each.getPackageName().substring("io.keelson.".length())))
                .filteredOn(name -> name.matches("(core|server|cli)\\..*"))
                .allSatisfy(name -> assertThat(rows).contains(name));
        assertThat(rows("packageDependsOnLowerPackagesOnly")).allSatisfy(name -> assertThat(page)
                .containsAnyOf("`" + name + "`", "`" + name.substring(Math.max(0, name.indexOf('.'))) + "`"));
    }

    private static Stream<String> rows(String test) {
        return Arrays.stream(ArchitectureTest.class.getDeclaredMethods()).filter(each -> each.getName().equals(test))
                .flatMap(each -> Arrays.stream(each.getAnnotation(CsvSource.class).value()))
                .map(row -> row.substring(0, row.indexOf('|')).strip());
    }

    @Test
    void httpHasNoSql() {
        noClasses().that().resideInAnyPackage("io.keelson.server.http..", "io.keelson.cli..")
                .should().dependOnClassesThat().areAssignableTo(Statement.class)
                .orShould().dependOnClassesThat().areAssignableTo(ResultSet.class)
                .because("a route turns JSON into a call and its answer into JSON: read through server.run's readers")
                .check(CLASSES);
    }

    @Test
    void tableClassesArePackagePrivate() {
        classes().that().resideInAPackage("io.keelson.server.run..").and().haveSimpleNameEndingWith("Table")
                .should().notBePublic()
                .because("the compiler then makes commands the only writers: go through RunStore or RunReader")
                .check(CLASSES);
    }

    @Test
    void onlyTheEngineDecides() {
        noClasses().that().resideOutsideOfPackages("io.keelson.core..", "io.keelson.server.engine..")
                .should().dependOnClassesThat().haveFullyQualifiedName("io.keelson.core.decide.Decider")
                .because("a decision counts only under the run's row lock: submit a Command to the Engine")
                .check(CLASSES);
    }

    @Test
    void timeComesFromOneClock() {
        noClasses().that().doNotHaveFullyQualifiedName(Server.class.getName())
                .and().doNotHaveFullyQualifiedName("io.keelson.cli.Main")
                .should().callMethodWhere(READS_THE_WALL_CLOCK)
                .because(
                        "take a java.time.Clock in the constructor (Server and the command line's Main hand it out); leases and timers use the "
                                + "database's clock, which the row lock returns")
                .check(CLASSES);
    }

    @Test
    void nothingSleepsInTheServer() {
        noClasses().that().resideInAnyPackage("io.keelson.server..", "io.keelson.core..")
                .should().callMethod(Thread.class, "sleep", long.class)
                .orShould().callMethod(Thread.class, "sleep", java.time.Duration.class)
                .because("wait for something that can wake you: a queue, a condition, a timer row")
                .check(CLASSES);
    }

    @Test
    void documentsFromOutsideHaveOneReader() {
        noClasses().that().resideInAnyPackage("io.keelson.server.outbound..", "io.keelson.server.model..",
                "io.keelson.server.mcp.wire..", "io.keelson.server.tool.builtin..", "io.keelson.server.effect..",
                "io.keelson.server.webhook..", "io.keelson.server.http.support..", "io.keelson.server.http.mcp..")
                .should().callMethodWhere(READS_WITHOUT_BOUNDS)
                .because("a document from outside may take any memory: read it with OutsideJson").check(CLASSES);
    }

    /** Constants, and rows that were checked when they were stored. */
    private static final Set<String> READERS_OF_OWN_TEXTS = Set.of("CommandTools", "EffectCommands",
            "OfferedTool", "Idempotency", "ModelsFile", "Specs");

    private static final DescribedPredicate<JavaMethodCall> READS_WITHOUT_BOUNDS = describe(
            "read JSON without bounds",
            call -> !READERS_OF_OWN_TEXTS.contains(call.getOriginOwner().getSimpleName())
                    && !call.getOrigin().getName().equals("<clinit>")
                    && (call.getTargetOwner().isEquivalentTo(Json.class) && call.getName().equals("read")
                            || call.getTargetOwner().isAssignableTo(ObjectMapper.class)
                                    && (call.getName().equals("readTree") || call.getName().equals("readValue"))));

    private static final DescribedPredicate<JavaMethodCall> READS_THE_WALL_CLOCK = describe("read the wall clock",
            call -> call.getTargetOwner().getPackageName().startsWith("java.time") && call.getName().equals("now")
                    && call.getTarget().getRawParameterTypes().isEmpty()
                    || call.getTargetOwner().isEquivalentTo(Clock.class) && call.getName().startsWith("system")
                    || call.getTargetOwner().isEquivalentTo(System.class)
                            && Set.of("currentTimeMillis").contains(call.getName()));
}
