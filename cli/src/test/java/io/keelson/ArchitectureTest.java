package io.keelson;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.keelson.server.app.Server;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** The packages of ARCHITECTURE.md, and which may know which. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar")).importPackages("io.keelson");

    /** Layer or group | what it may know, below {@code io.keelson}, sub-packages included. */
    @ParameterizedTest(name = "{0} may know {1}")
    @CsvSource(delimiter = '|', nullValues = "nothing", value = {
            "core.lifecycle   | nothing",
            "core.policy      | nothing",
            "core.money       | nothing",
            "core.plan        | core.money core.policy",
            "core.run         | core.lifecycle core.money core.plan core.policy",
            "core.decide      | core.lifecycle core.money core.plan core.policy core.run",
            "core.schedule    | nothing",
            "api              | nothing",
            "client           | api",
            "devmodel         | nothing",
            "server.base      | nothing",
            "server.tenant    | api core server.base",
            "server.engine    | api core server.base server.tenant",
            "server.mission   | api core server.base server.tenant server.engine",
            "server.work      | api core server.base server.tenant server.engine server.mission",
            "server.outlet    | api core server.base server.tenant server.engine server.mission server.work",
            "server.api       | api core server.base server.tenant server.engine server.mission server.work server.outlet",
            "server.annex     | api core server.base server.tenant server.engine server.mission server.work server.outlet server.api",
            "server.app       | api core server.base server.tenant server.engine server.mission server.work server.outlet server.api server.annex",
            "server.testing   | api core server",
            "cli              | api client core devmodel server.testing server.app server.base server.engine.tool server.mission.plan server.outlet.backup server.annex.model server.annex.postgres",
    })
    void groupDependsOnLowerGroupsOnly(String name, String known) {
        String[] allowed =
                Stream.concat(Stream.of(name), Stream.ofNullable(known).flatMap(k -> Arrays.stream(k.split(" "))))
                        .map(each -> "io.keelson." + each + "..").toArray(String[]::new);
        noClasses().that().resideInAPackage("io.keelson." + name + "..").should().dependOnClassesThat(
                resideInAPackage("io.keelson..").and(DescribedPredicate.not(resideInAnyPackage(allowed))))
                .because("a run goes one hop down and never back; pass the other group's result in by a parameter, "
                        + "or let io.keelson.server.app join the two (ARCHITECTURE.md, groups of packages)")
                .check(CLASSES);
    }

    /** Package of a group | the packages of its group that it may know, sub-packages included. */
    @ParameterizedTest(name = "{0} may know {1}")
    @CsvSource(delimiter = '|', nullValues = "nothing", value = {
            "server.base.artifact    | json",
            "server.base.background  | nothing",
            "server.base.compute     | db",
            "server.base.db          | json",
            "server.base.expr        | compute json",
            "server.base.json        | nothing",
            "server.base.log         | nothing",
            "server.base.outbound    | nothing",
            "server.base.problem     | nothing",
            "server.base.process     | nothing",
            "server.tenant.audit     | nothing",
            "server.tenant.auth      | audit secret workspace",
            "server.tenant.money     | nothing",
            "server.tenant.secret    | audit",
            "server.tenant.workspace | audit",
            "server.engine.store     | nothing",
            "server.engine.live      | nothing",
            "server.engine.tool      | nothing",
            "server.engine.commit    | store",
            "server.engine.execute   | store live tool",
            "server.engine.dispatch  | commit execute store tool",
            "server.engine.history   | commit store",
            "server.engine.upkeep    | commit dispatch execute history store tool",
            "server.engine.purge     | commit store",
            "server.mission.bulk     | nothing",
            "server.mission.plan     | nothing",
            "server.mission.recipe   | nothing",
            "server.mission.roster   | nothing",
            "server.mission.schedule | nothing",
            "server.mission.submission | bulk plan recipe schedule",
            "server.work.builtin     | nothing",
            "server.outlet.backup    | nothing",
            "server.outlet.board     | nothing",
            "server.outlet.statusdoc | nothing",
            "server.outlet.notice    | nothing",
            "server.outlet.webhook   | notice",
            "server.api.picture      | nothing",
            "server.api.view         | nothing",
            "server.api.web          | nothing",
            "server.api.http         | picture view web",
            "server.annex.effect     | nothing",
            "server.annex.mcp        | nothing",
            "server.annex.model      | nothing",
            "server.annex.notice     | nothing",
            "server.annex.oidc       | nothing",
            "server.annex.postgres   | nothing",
            "server.annex.rabbitmq   | nothing",
            "server.annex.trigger    | nothing",
            "server.annex.s3         | nothing",
            "server.app.metrics      | nothing",
            "server.app.trace        | nothing",
    })
    void packageDependsOnListedPackagesOfItsGroupOnly(String name, String known) {
        String group = "io.keelson." + name.substring(0, name.lastIndexOf('.'));
        String[] allowed = Stream
                .concat(Stream.of("io.keelson." + name),
                        Stream.ofNullable(known).flatMap(k -> Arrays.stream(k.split(" "))).map(k -> group + "." + k))
                .map(each -> each + "..").toArray(String[]::new);
        noClasses().that().resideInAPackage("io.keelson." + name + "..").should()
                .dependOnClassesThat(
                        resideInAPackage(group + "..").and(DescribedPredicate.not(resideInAnyPackage(allowed))))
                .because("packages of one group stay apart; move what two of them share into the one below them")
                .check(CLASSES);
    }

    /** Sub-package | its siblings that it may know; {@code .} is their parent. */
    @ParameterizedTest(name = "{0} may know {1}")
    @CsvSource(delimiter = '|', nullValues = "nothing", value = {
            "server.engine.store.sql   | nothing",
            "server.engine.store.queue | sql",
            "server.engine.store.retention | sql",
            "server.engine.store.archive | read sql",
            "server.engine.store.read  | . sql",
            "server.api.http.support | nothing",
            "server.api.http.gateway | support",
            "server.api.http.runs | support",
            "server.api.http.streams | support",
            "server.api.http.inbox | support runs",
            "server.api.http.definitions | support runs",
            "server.api.http.workers | support",
            "server.api.http.billing | support",
            "server.api.http.admin | support",
            "server.annex.mcp.wire  | nothing",
            "server.annex.mcp.endpoint | wire",
            "server.annex.mcp.gateway | wire",
            "server.annex.model.registry | .",
            "server.annex.model.wire | .",
            "server.annex.model.call | . registry",
            "server.annex.model.turn | . call registry",
            "server.annex.model.coordination | . call registry",
            "server.annex.model.gateway | . call registry wire",
            "server.annex.model.wiring | . call coordination gateway registry turn wire",
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
            "cli.models       | common view",
            "cli.worker       | common view",
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
    void everyPackageHasARowHereAndInTheTableOfItsGroup() throws Exception {
        Set<String> rows = Stream.of("groupDependsOnLowerGroupsOnly", "packageDependsOnListedPackagesOfItsGroupOnly",
                "subPackageDependsOnLowerOnesOnly").flatMap(ArchitectureTest::rows).collect(Collectors.toSet());
        String page = Files.readString(Path.of("..", "ARCHITECTURE.md"));

        assertThat(CLASSES.stream().filter(each -> !each.getSimpleName().equals("package-info"))
                .map(each -> each.getPackageName().substring("io.keelson.".length())))
                .filteredOn(name -> name.matches("(core|server|cli)\\..*"))
                .allSatisfy(name -> assertThat(rows).contains(name));
        assertThat(rows("groupDependsOnLowerGroupsOnly")).allSatisfy(name -> assertThat(page)
                .containsAnyOf("`" + name + "`", "`" + name.substring(name.indexOf('.') + 1) + "`"));
        assertThat(rows("packageDependsOnListedPackagesOfItsGroupOnly")).allSatisfy(name -> assertThat(
                Files.readString(Path.of("../server/src/main/java/io/keelson/" + name.replace('.', '/')).resolveSibling(
                        "package-info.java")))
                .contains("{@code " + name.substring(name.lastIndexOf('.') + 1) + "}"));
    }

    private static Stream<String> rows(String test) {
        return Arrays.stream(ArchitectureTest.class.getDeclaredMethods()).filter(each -> each.getName().equals(test))
                .flatMap(each -> Arrays.stream(each.getAnnotation(CsvSource.class).value()))
                .map(row -> row.substring(0, row.indexOf('|')).strip());
    }

    @Test
    void recordsOfTheApiDependOnTreesAndAnnotationsOfJacksonOnly() {
        classes().that().resideInAPackage("io.keelson.api..").should().onlyDependOnClassesThat(
                resideInAnyPackage("io.keelson.api..", "java..", "org.jspecify..", "com.fasterxml.jackson.annotation..",
                        "tools.jackson.databind.node..").or(equivalentTo(JsonNode.class)))
                .because("the contract is data: put rules into core, and mappers into client and server")
                .check(CLASSES);
    }

    @Test
    void httpHasNoSql() {
        noClasses().that().resideInAnyPackage("io.keelson.server.api.http..", "io.keelson.server.annex.mcp.endpoint..",
                "io.keelson.cli..")
                .or(resideInAPackage("io.keelson.server.annex..").and(simpleNameEndingWith("Actions")))
                .should().dependOnClassesThat().areAssignableTo(Statement.class)
                .orShould().dependOnClassesThat().areAssignableTo(ResultSet.class)
                .because("a route turns JSON into a call and its answer into JSON: read through engine.store's readers")
                .check(CLASSES);
    }

    @Test
    void parametersAndColumnsHaveNames() {
        noClasses().that().resideOutsideOfPackages("io.keelson.server.engine..", "io.keelson.server.base.db..")
                .should().callMethodWhere(COUNTS_POSITIONS)
                .because("a position counted by hand is wrong after the next column: write :name into a Sql, and read "
                        + "columns by name, or as a record by RecordColumns")
                .check(CLASSES);
    }

    @Test
    void tableClassesArePackagePrivate() {
        classes().that().resideInAPackage("io.keelson.server.engine.store..").and().haveSimpleNameEndingWith("Table")
                .should().notBePublic()
                .because("the compiler then makes commands the only writers: go through RunStore or RunReader")
                .check(CLASSES);
    }

    @Test
    void onlyTheEngineDecides() {
        noClasses().that().resideOutsideOfPackages("io.keelson.core..", "io.keelson.server.engine..")
                .should().dependOnClassesThat().haveFullyQualifiedName("io.keelson.core.decide.Decider")
                .because(
                        "a decision counts only if its transaction proves the run's version: submit a Command to the Engine")
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
        noClasses().that().resideInAnyPackage("io.keelson.server.base.outbound..", "io.keelson.server.annex.model..",
                "io.keelson.server.annex.mcp.wire..", "io.keelson.server.work.builtin..",
                "io.keelson.server.annex.effect..",
                "io.keelson.server.outlet.webhook..", "io.keelson.server.api.http.support..",
                "io.keelson.server.annex.mcp.endpoint..", "io.keelson.server.annex.mcp.gateway..",
                "io.keelson.server.annex.oidc..")
                .should().callMethodWhere(READS_WITHOUT_BOUNDS)
                .because("a document from outside may take any memory: read it with OutsideJson").check(CLASSES);
    }

    /** Constants, and rows that were checked when they were stored. */
    private static final Set<String> READERS_OF_OWN_TEXTS = Set.of("CommandTools", "EffectCommands",
            "OfferedTool", "Idempotency", "ModelsFile", "SignIn", "Specs");

    private static final DescribedPredicate<JavaMethodCall> READS_WITHOUT_BOUNDS = describe(
            "read JSON without bounds",
            call -> !READERS_OF_OWN_TEXTS.contains(call.getOriginOwner().getSimpleName())
                    && !call.getOrigin().getName().equals("<clinit>")
                    && (call.getTargetOwner().isEquivalentTo(Json.class) && call.getName().equals("read")
                            || call.getTargetOwner().isAssignableTo(ObjectMapper.class)
                                    && (call.getName().equals("readTree") || call.getName().equals("readValue"))));

    private static final DescribedPredicate<JavaMethodCall> COUNTS_POSITIONS = describe(
            "set a parameter or read a column by its position",
            call -> (call.getTargetOwner().isAssignableTo(PreparedStatement.class) && call.getName().startsWith("set")
                    && call.getTarget().getRawParameterTypes().size() > 1
                    || call.getTargetOwner().isAssignableTo(ResultSet.class) && call.getName().startsWith("get"))
                    && !call.getTarget().getRawParameterTypes().isEmpty()
                    && call.getTarget().getRawParameterTypes().getFirst().isEquivalentTo(int.class));

    private static final DescribedPredicate<JavaMethodCall> READS_THE_WALL_CLOCK = describe("read the wall clock",
            call -> call.getTargetOwner().getPackageName().startsWith("java.time") && call.getName().equals("now")
                    && call.getTarget().getRawParameterTypes().isEmpty()
                    || call.getTargetOwner().isEquivalentTo(Clock.class) && call.getName().startsWith("system")
                    || call.getTargetOwner().isEquivalentTo(System.class)
                            && Set.of("currentTimeMillis").contains(call.getName()));
}
