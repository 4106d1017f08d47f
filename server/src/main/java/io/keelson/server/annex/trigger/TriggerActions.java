package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.api.trigger.TriggerDelivery;
import io.keelson.core.run.Ids;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.KeyedTransaction;
import io.keelson.server.api.http.support.ListCursor;
import io.keelson.server.api.http.support.ListPage;
import io.keelson.server.api.http.support.Lists;
import io.keelson.server.api.http.support.Query;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Triggers, and the events that they received. Only administrators open a way into a workspace. */
final class TriggerActions {

    private static final String UNIQUE_VIOLATION = "23505";
    private static final Trigger.Flow NO_FLOW = new Trigger.Flow(null, null, null, null);

    private final TriggerStore triggers;
    private final DeliveryStore deliveries;
    private final FlowGate gate;
    private final Replays replays;
    private final TriggerCheck check;
    private final Database database;
    private final Ids ids;
    private final KeyedTransaction keyed;
    private final Runnable signal;

    /** @param signal has changed triggers read and deliveries decided soon; returns at once */
    TriggerActions(TriggerStore triggers, DeliveryStore deliveries, FlowGate gate, Replays replays,
            TriggerCheck check, Database database, Ids ids, KeyedTransaction keyed, Runnable signal) {
        this.triggers = triggers;
        this.deliveries = deliveries;
        this.gate = gate;
        this.replays = replays;
        this.check = check;
        this.database = database;
        this.ids = ids;
        this.keyed = keyed;
        this.signal = signal;
    }

    void addTo(Route.Table table) {
        table.get(Scope.RUNS_READ, "/triggers", this::list);
        table.post(Scope.ADMIN, "/triggers", Trigger.Definition.class, this::create);
        table.get(Scope.RUNS_READ, "/triggers/{id}", this::show);
        table.patch(Scope.ADMIN, "/triggers/{id}", Trigger.Change.class, this::change);
        table.delete(Scope.ADMIN, "/triggers/{id}", this::remove);
        table.get(Scope.RUNS_READ, "/triggers/{id}/deliveries", this::deliveries);
        table.get(Scope.RUNS_READ, "/triggers/{id}/deliveries/{delivery_id}", this::delivery);
        table.post(Scope.RUNS_READ, "/triggers/{id}/test", Trigger.Example.class, this::test);
        table.post(Scope.RUNS_WRITE, "/triggers/{id}/replay", TriggerDelivery.Replay.class, this::replay);
    }

    private ApiResponse list(ApiRequest request) {
        return new ListPage(request, "triggers").of(triggers.list(request.workspace(), request.query().text("name"))
                .stream().map(TriggerRow::listItem).toList());
    }

    private ApiResponse create(ApiRequest request, Trigger.Definition body) {
        UUID recipe = check.recipe(request.workspace(), body);
        UUID id = ids.next();
        Long runEndsFrom = triggers.runEndsFrom(body);
        ApiResponse response =
                keyed.answer(request, c -> switch (triggers.create(c, id, request.workspace(), body, recipe,
                        runEndsFrom, request.origin())) {
                    case NAME_TAKEN -> throw nameTaken();
                    case LIMIT_REACHED -> throw ApiProblem.of(ErrorCode.TRIGGERS_LIMIT_REACHED,
                            "a workspace has at most " + TriggerStore.MAX_TRIGGERS + " triggers");
                    case DONE -> ApiResponse.created("/api/v1/triggers/" + id,
                            triggers.find(c, request.workspace(), id).orElseThrow().document());
                });
        signal.run();
        return response;
    }

    private static ApiProblem nameTaken() {
        return ApiProblem.of(ErrorCode.TRIGGER_NAME_TAKEN, "another trigger of the workspace has this name")
                .with("pointer", "/name");
    }

    private ApiResponse show(ApiRequest request) {
        return answer(trigger(request));
    }

    private static ApiResponse answer(TriggerRow trigger) {
        return ApiResponse.resource(trigger.document(), String.valueOf(trigger.version()));
    }

    private TriggerRow trigger(ApiRequest request) {
        UUID id = request.id("id", IdKind.TRIGGER);
        return Reads.found(triggers.find(request.workspace(), id), IdKind.TRIGGER, id);
    }

    /** Checks the definition before it locks the trigger, and changes the checked version only. */
    private ApiResponse change(ApiRequest request, Trigger.Change body) {
        TriggerRow seen = trigger(request);
        Trigger.Definition changed = changed(seen.read(), body);
        UUID recipe = check.recipe(request.workspace(), changed);
        Long runEndsFrom = triggers.runEndsFrom(changed);
        try {
            database.runInTransaction(c -> {
                TriggerRow before = Reads.found(triggers.locked(c, request.workspace(), seen.id()), IdKind.TRIGGER,
                        seen.id());
                request.requireVersion(String.valueOf(before.version()), before.document());
                if (before.version() != seen.version()) {
                    throw ApiProblem.of(ErrorCode.VERSION_CHANGED, "it was changed by another request meanwhile")
                            .with("current", before.document());
                }
                triggers.change(c, before, changed, recipe, runEndsFrom, request.origin());
            });
        } catch (SqlFailure e) {
            if (e.sqlState().equals(UNIQUE_VIOLATION)) {
                throw nameTaken();
            }
            throw e;
        }
        signal.run();
        return answer(trigger(request));
    }

    private static Trigger.Definition changed(Trigger.Definition before, Trigger.Change body) {
        boolean retargeted = body.recipe() != null || body.mission() != null || body.signal() != null;
        return new Trigger.Definition(or(body.name(), before.name()), or(body.source(), before.source()),
                or(body.key(), before.key()), or(body.filter(), before.filter()),
                retargeted ? body.recipe() : before.recipe(), retargeted ? body.mission() : before.mission(),
                retargeted ? body.signal() : before.signal(),
                or(body.inputs(), before.inputs()), or(body.priority(), before.priority()),
                flow(body.flow(), before.flow()), body.example() == null ? before.example() : body.example(),
                or(body.enabled(), before.enabled()));
    }

    private static Trigger.@Nullable Flow flow(Trigger.@Nullable Flow given, Trigger.@Nullable Flow before) {
        return given == null ? before : given.equals(NO_FLOW) ? null : given;
    }

    private static <T> T or(@Nullable T given, T before) {
        return given == null ? before : given;
    }

    private static <T> @Nullable T or(@Nullable Optional<T> given, @Nullable T before) {
        return given == null ? before : given.orElse(null);
    }

    private ApiResponse remove(ApiRequest request) {
        UUID id = request.id("id", IdKind.TRIGGER);
        if (!triggers.delete(request.workspace(), id, request.origin())) {
            throw IdKind.TRIGGER.notFound(id);
        }
        return ApiResponse.empty(204);
    }

    private ApiResponse deliveries(ApiRequest request) {
        UUID id = request.id("id", IdKind.TRIGGER);
        Query query = request.query();
        ListCursor cursor = new ListCursor("trigger deliveries " + id);
        String state = query.text("state");
        DeliveryStore.Place after = cursor.read(query, TriggerActions::place);
        boolean signals = trigger(request).read().signal() != null;
        return ApiResponse.ok(Lists.page(deliveries.list(request.workspace(), id, state, after, query.limit()), cursor,
                each -> each.receivedAt() + " " + each.id(), each -> each.listItem(signals)));
    }

    private static DeliveryStore.Place place(String text) {
        String[] parts = text.split(" ", 2);
        return new DeliveryStore.Place(Instant.parse(parts[0]),
                Objects.requireNonNull(IdKind.TRIGGER_DELIVERY.parse(parts[1])));
    }

    /** Evaluates the trigger with an event that is not stored. */
    private ApiResponse test(ApiRequest request, Trigger.Example body) {
        return ApiResponse.ok(Json.document(check.tested(trigger(request), body)));
    }

    private ApiResponse replay(ApiRequest request, TriggerDelivery.Replay body) {
        UUID trigger = trigger(request).id();
        UUID delivery = body.deliveryId();
        if (delivery != null) {
            Reads.found(deliveries.find(request.workspace(), trigger, delivery), IdKind.TRIGGER_DELIVERY, delivery);
        }
        ApiResponse response = keyed.answer(request, c -> {
            gate.free(c, trigger);
            Replays.Batch batch = replays.begin(c, request.workspace(), trigger,
                    new Replays.Which(delivery, body.state(), body.since(), body.until(), null));
            TriggerStore.audit(c, request.origin(), "trigger_replayed", request.workspace(), trigger);
            return ApiResponse.ok(Json.document(new TriggerDelivery.Replayed(batch.count(), batch.more())));
        });
        signal.run();
        return response;
    }

    private ApiResponse delivery(ApiRequest request) {
        UUID id = request.id("delivery_id", IdKind.TRIGGER_DELIVERY);
        TriggerRow trigger = trigger(request);
        return ApiResponse.resource(Reads.found(deliveries.find(request.workspace(), trigger.id(), id),
                IdKind.TRIGGER_DELIVERY, id).document(trigger.read().signal() != null));
    }
}
