package example;

import static io.keelson.client.plan.Mission.expr;

import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import java.util.List;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Starts a run for each order. */
@RestController
class Orders {
    private final Keelson keelson;

    Orders(Keelson keelson) {
        this.keelson = keelson;
    }

    @PostMapping("/orders/{order}")
    Map<String, String> ship(@PathVariable String order, @RequestBody List<String> items) {
        Mission mission = Mission.named("ship " + order)
                .task("ship", task -> task
                        .step("pack", "parcel.pack", Map.of("order", order, "items", items))
                        .step("send", "parcel.send", Map.of("number", expr(".steps.pack.output.number"))))
                .output(expr(".tasks.ship.output")).start();
        // The same order twice is one run.
        Run run = keelson.runs().create(RunRequest.of(mission.toJson()).idempotencyKey("order-" + order));
        return Map.of("run", run.id());
    }

    @GetMapping("/runs/{run}")
    Map<String, Object> state(@PathVariable String run) {
        Run found = keelson.runs().get(run);
        return Map.of("state", found.state(), "output", found.output().asString(""));
    }
}
