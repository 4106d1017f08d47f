package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskType;
import io.keelson.server.annex.effect.EffectModule;
import io.keelson.server.annex.effect.EffectSettings;
import io.keelson.server.annex.mcp.McpModule;
import io.keelson.server.annex.mcp.gateway.ToolGateway;
import io.keelson.server.annex.mcp.gateway.ToolGatewayObserver;
import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.wiring.ModelModule;
import io.keelson.server.annex.model.wiring.ModelObserver;
import io.keelson.server.annex.notice.NoticeModule;
import io.keelson.server.annex.trigger.TriggerModule;
import io.keelson.server.api.http.support.RequestSchema;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.outbound.OutboundClient;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.purge.WorkspacePurger;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.read.Explainer;
import io.keelson.server.engine.store.read.InboxReader;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.mission.bulk.BulkDriver;
import io.keelson.server.mission.bulk.BulkJobs;
import io.keelson.server.mission.bulk.BulkRetryAdmission;
import io.keelson.server.mission.plan.CatalogToolKnowledge;
import io.keelson.server.mission.plan.MissionContext;
import io.keelson.server.mission.plan.MissionReader;
import io.keelson.server.mission.plan.ModelRules;
import io.keelson.server.mission.plan.NewPlans;
import io.keelson.server.mission.plan.PlannerAnswerValidator;
import io.keelson.server.mission.plan.StoredPlans;
import io.keelson.server.mission.recipe.RecipeStore;
import io.keelson.server.mission.roster.Roster;
import io.keelson.server.mission.schedule.RunSubmitter;
import io.keelson.server.mission.schedule.ScheduleRow;
import io.keelson.server.mission.schedule.ScheduleRunner;
import io.keelson.server.mission.schedule.ScheduleServices;
import io.keelson.server.mission.schedule.ScheduleStore;
import io.keelson.server.mission.schedule.ScheduledTimeRow;
import io.keelson.server.mission.schedule.ScheduledTimes;
import io.keelson.server.mission.submission.PlanEdits;
import io.keelson.server.mission.submission.RecipeMissions;
import io.keelson.server.mission.submission.SubmissionServices;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.ApiKeyUsage;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import io.keelson.server.tenant.workspace.ApprovalRules;
import io.keelson.server.tenant.workspace.WorkspaceRules;
import io.keelson.server.tenant.workspace.WorkspaceStore;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The routes served, their parameters and the document about them are the same thing. */
class OpenApiTest {

    private static final Set<String> METHODS = Set.of("get", "post", "put", "patch", "delete");

    @TempDir
    private static Path folder;

    private static ApiServer api;
    private static JsonNode document;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
        document = api.get("/openapi.json", "Authorization", "").json();
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void isOpenApi31() {
        assertThat(document.get("openapi").stringValue()).startsWith("3.1");
    }

    /** A name that comes twice in one object takes the place of the first without a word. */
    @Test
    void nothingIsSaidTwice() throws Exception {
        try (var yaml = OpenApi.class.getResourceAsStream("/openapi.yaml")) {
            JsonNode strict = YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build()
                    .readTree(yaml);
            assertThat(strict.at("/components/responses")).allSatisfy(
                    response -> assertThat(response.has("description")).as(response.toString()).isTrue());
        }
    }

    /** What an answer has, its schema knows. */
    @Test
    void answersAreWhatTheirSchemasSay() {
        String run = api.create("""
                {"name": "kinds", "start": true, "plan": {"tasks": [{"id": "one", "steps": [
                  {"name": "hook", "tool": "signal.wait", "input": {"name": "go"}}]}]}}""");
        api.awaitStep(run, "waiting");
        String steps = api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0/kind").stringValue();
        assertThat(
                document.at("/components/schemas/Step/properties/kind/enum").valueStream().map(JsonNode::stringValue))
                .contains(steps).containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(StepKind.values()).map(StepKind::wire).toList());
        assertThat(document.at("/components/schemas/TaskType/enum").valueStream().map(JsonNode::stringValue))
                .containsExactlyElementsOf(Arrays.stream(TaskType.values()).map(TaskType::wire).toList());
        assertThat(names(api.get("/api/v1/ledger").json()))
                .isSubsetOf(
                        names(document.at("/components/responses/Ledger/content/application~1json/schema/properties")));
        assertThat(names(api.get("/api/v1/prices").json()))
                .isEqualTo(
                        names(document.at("/components/schemas/PriceList/properties")));
        assertThat(document.at("/components/schemas/Run/properties/plan_version/minimum").intValue()).isZero();
    }

    private static Set<String> names(JsonNode object) {
        return new TreeSet<>(object.propertyNames());
    }

    @Test
    void operationsHaveNamesOfTheirOwnAndTagsThatAreDescribed() {
        List<String> tags = document.get("tags").valueStream().map(tag -> tag.get("name").stringValue()).toList();
        List<String> names = new ArrayList<>();
        Set<String> used = new TreeSet<>();
        for (String place : List.of("/paths", "/components/pathItems")) {
            document.at(place).forEach(item -> METHODS.stream().filter(item::has).map(item::get).forEach(operation -> {
                names.add(operation.get("operationId").stringValue());
                operation.get("tags").forEach(tag -> used.add(tag.stringValue()));
            }));
        }
        assertThat(names).doesNotHaveDuplicates();
        assertThat(tags).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(used);
    }

    @Test
    void documentsExactlyWhatIsServed() throws Exception {
        assertThat(operations().keySet())
                .containsExactlyInAnyOrderElementsOf(routes().stream().map(Route::name).toList());
    }

    @Test
    void recordsOfBodiesHaveTheMembersOfTheirSchemas() throws Exception {
        RequestSchema.Table schemas = new RequestSchema.Table((ObjectNode) document);
        for (Route route : routes()) {
            RequestSchema schema = schemas.of(route);
            if (schema != null) {
                BodyRecords.compare(schema.schema(), route.body(), route.name());
            }
        }
    }

    /** An unquoted comma in a YAML flow mapping ends a description and begins another keyword, with the value null. */
    @Test
    void everyKeywordOfASchemaIsKnown() {
        Set<String> unknown = new TreeSet<>();
        keywords(document.get("paths"), unknown);
        keywords(document.get("components"), unknown);
        assertThat(unknown).isEmpty();
    }

    private static void keywords(JsonNode node, Set<String> unknown) {
        node.properties().forEach(each -> {
            if (each.getValue().isNull() && !each.getKey().equals("default")) {
                unknown.add(each.getKey());
            }
            if (!each.getKey().equals("example") && !each.getKey().equals("examples")) {
                keywords(each.getValue(), unknown);
            }
        });
        node.values().stream().filter(each -> node.isArray()).forEach(each -> keywords(each, unknown));
    }

    private static List<Route> routes() throws Exception {
        ToolCatalog tools = new ToolCatalog(List.of());
        Expressions expressions = new Expressions();
        LocalArtifactStore artifacts = new LocalArtifactStore(folder.resolve("artifacts"));
        CatalogToolKnowledge knowledge = new CatalogToolKnowledge(tools, expressions, Set::of);
        Database database = api.database();
        StoredPlans plans = new StoredPlans(knowledge::timeout);
        SecretStore secrets = new SecretStore(database, SealingKey.fresh(), List.of());
        try (Engine engine = new Engine(database, Store.of(DbClock.DATABASE, plans::read, Duration.ofDays(30)), tools,
                expressions, secrets, new PlannerAnswerValidator(new NewPlans(knowledge, knowledge::timeout)),
                artifacts, Clock.systemUTC(), new Engine.Options(1, Duration.ofSeconds(30), "test"))) {
            Function<UUID, MissionReader> missions = workspace -> new MissionReader(MissionContext.of(knowledge));
            Money money = new Money(database, DbClock.DATABASE);
            BulkJobs jobs = new BulkJobs(DbClock.DATABASE);
            return new HttpServer(HttpOptions.DEFAULTS.withPort(0),
                    new ApiServices(database, AuthServices.of(database, new ApiKeyUsage(database)),
                            new ApiServices.Runs(new RunReader(), new Explainer(DbClock.DATABASE,
                                    new RunStore(DbClock.DATABASE, plans::read, Duration.ofDays(30)), tool -> false),
                                    new InboxReader(DbClock.DATABASE), missions, _ -> ModelRules.UNKNOWN,
                                    SubmissionServices.of(new RecipeMissions(database, new RecipeStore(), missions),
                                            database,
                                            new RunReader(), money, engine,
                                            new PlanEdits(database, new ScopeReader(),
                                                    new NewPlans(knowledge, knowledge::timeout)),
                                            new ApprovalRules(database, new WorkspaceStore(database), Set.of(),
                                                    Set.of())),
                                    UUID::randomUUID, new IdempotencyKeys(DbClock.DATABASE)),
                            new ApiServices.Work(engine, engine.remoteWork(), tools, Computation.direct(),
                                    engine.texts()),
                            new ApiServices.Stores(artifacts, new ArtifactRetention(DbClock.DATABASE), money,
                                    new Roster(database),
                                    Map.of(),
                                    secrets,
                                    new RecipeStore(),
                                    new Endpoints(database, secrets), new Deliveries(database)),
                            new ApiServices.Background(schedules(database), jobs,
                                    new BulkDriver(database, jobs, engine,
                                            workspace -> new BulkRetryAdmission.Answer.Closed()),
                                    new WorkspacePurger(database, new RunReader(), engine)),
                            List.of(new EffectModule(
                                    new EffectSettings(null, null, true, Duration.ofSeconds(20), List.of()), database,
                                    new OutboundClient(false)),
                                    new McpModule(null, database, new OutboundClient(false), secrets, "1",
                                            new ToolGateway.Sources(_ -> Map.of(),
                                                    new WorkspaceRules(new WorkspaceStore(database))::tools,
                                                    ToolGatewayObserver.NONE, Duration.ofSeconds(45))),
                                    new ModelModule(Models.NONE, new ModelModule.Sources(database, money.prices(),
                                            new RecipeStore(), _ -> List.of(), _ -> Map.of(),
                                            new WorkspaceRules(new WorkspaceStore(database))::tools),
                                            Computation.direct(), new ModelObserver() {
                                                @Override
                                                public void onAnswer(String model, long firstTextMillis) {}

                                                @Override
                                                public void onPause(String model) {}
                                            }, Clock.systemUTC(),
                                            System::nanoTime),
                                    new TriggerModule(new TriggerModule.Parts(database, secrets, new RunReader(),
                                            new IdempotencyKeys(DbClock.DATABASE), engine.history(),
                                            SubmissionServices.of(
                                                    new RecipeMissions(database, new RecipeStore(), missions),
                                                    database, new RunReader(), money, engine,
                                                    new PlanEdits(database, new ScopeReader(),
                                                            new NewPlans(knowledge, knowledge::timeout)),
                                                    new ApprovalRules(database, new WorkspaceStore(database), Set.of(),
                                                            Set.of())),
                                            expressions, engine, Computation.direct(), _ -> {
                                            }, Clock.systemUTC(), UUID::randomUUID, Duration.ofSeconds(30), 7)),
                                    new NoticeModule(new NoticeModule.Parts(database,
                                            AuthServices.of(database, new ApiKeyUsage(database)), secrets,
                                            new Endpoints(database, secrets), new Deliveries(database),
                                            UUID::randomUUID, false, null, Duration.ofHours(1), Clock.systemUTC()))),
                            engine.history(), () -> null))
                    .routes();
        }
    }

    private static ScheduleServices schedules(Database database) {
        ScheduleStore schedules = new ScheduleStore(DbClock.DATABASE);
        ScheduledTimes scheduledTimes = new ScheduledTimes(UUID::randomUUID);
        return new ScheduleServices(schedules, scheduledTimes,
                new ScheduleRunner(database, schedules, scheduledTimes, new NoRuns()));
    }

    /** Nothing is made here. */
    private static final class NoRuns implements RunSubmitter {
        @Override
        public Outcome make(ScheduleRow schedule, ScheduledTimeRow time) {
            return new Outcome.Refused("NONE", "none");
        }

        @Override
        public boolean made(ScheduledTimeRow time) {
            return false;
        }

        @Override
        public void cancel(UUID run, String reason) {}

        @Override
        public Set<UUID> ended(Connection c, Collection<UUID> runs) {
            return Set.of();
        }
    }

    @Test
    void everyPropertyIsDescribed() {
        List<String> bare = new ArrayList<>();
        document.at("/components/schemas").properties()
                .forEach(schema -> undescribed(schema.getKey(), schema.getValue(), bare));

        assertThat(bare).as("add a description, or a $ref to a schema that has one").isEmpty();
    }

    private static void undescribed(String at, JsonNode schema, List<String> into) {
        schema.path("properties").properties().forEach(property -> {
            if (Stream.of("description", "$ref", "allOf").noneMatch(property.getValue()::has)) {
                into.add(at + "." + property.getKey());
            }
        });
        schema.properties().forEach(member -> undescribed(at + "." + member.getKey(), member.getValue(), into));
    }

    @Test
    void everyReferenceLeadsSomewhere() {
        List<String> dangling = new ArrayList<>();
        Matcher references = Pattern.compile("\"\\$ref\":\"#([^\"]+)\"").matcher(document.toString());
        while (references.find()) {
            if (document.at(references.group(1)).isMissingNode()) {
                dangling.add(references.group(1));
            }
        }

        assertThat(dangling).isEmpty();
    }

    @Test
    void pathParametersAreDeclared() {
        operations().forEach((operation, item) -> {
            Set<String> declared = new TreeSet<>();
            item.path("parameters").forEach(parameter -> {
                JsonNode resolved = resolve(parameter);
                if (resolved.get("in").stringValue().equals("path")) {
                    declared.add(resolved.get("name").stringValue());
                }
            });
            Set<String> named = new TreeSet<>();
            Matcher names = Pattern.compile("\\{(\\w+)}").matcher(operation);
            while (names.find()) {
                named.add(names.group(1));
            }
            assertThat(declared).as(operation).isEqualTo(named);
        });
    }

    @Test
    void onlyHealthAndTheDocumentItselfAskForNoKey() {
        operations().forEach((operation, item) -> {
            String path = operation.substring(operation.indexOf(' ') + 1).replaceAll("\\{\\w+}",
                    "00000000-0000-0000-0000-000000000000");
            String method = operation.substring(0, operation.indexOf(' '));
            boolean open = item.path(method.toLowerCase(Locale.ROOT)).path("security").isEmpty();
            ApiServer.Answer answer = api.send(method, path, null, "Authorization", "");

            assertThat(answer.status()).as(operation).isEqualTo(open ? 200 : 401);
            assertThat(open).as(operation)
                    .isEqualTo(Set.of("/healthz", "/readyz", "/openapi.json", "/metrics").contains(path));
        });
    }

    /** Path items by {@code METHOD /path} of their operations. */
    private static Map<String, JsonNode> operations() {
        Map<String, JsonNode> operations = new TreeMap<>();
        document.get("paths").properties().forEach(path -> {
            JsonNode item = resolve(path.getValue());
            item.propertyNames().stream().filter(METHODS::contains).forEach(method -> operations
                    .put(method.toUpperCase(Locale.ROOT) + " " + path.getKey(), item));
        });
        return operations;
    }

    private static JsonNode resolve(JsonNode node) {
        JsonNode reference = node.get("$ref");
        return reference == null ? node : document.at(reference.stringValue().substring(1));
    }
}
