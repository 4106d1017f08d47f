package example;

import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.spring.KeelsonTool;
import java.util.List;
import org.springframework.stereotype.Component;

/** Tools of missions. */
@Component
class Parcels {
    private final Carrier carrier;

    Parcels(Carrier carrier) {
        this.carrier = carrier;
    }

    record Parcel(String number, int items) {}

    @KeelsonTool(value = "parcel.pack", description = "Packs the items of an order", effects = Effects.READ)
    Parcel pack(String order, List<String> items) throws StepFailure {
        if (items.isEmpty()) {
            throw new StepFailure("ORDER_EMPTY", ErrorClass.PERMANENT, "order " + order + " has no items");
        }
        return new Parcel("P-" + order, items.size());
    }

    @KeelsonTool(value = "parcel.send", description = "Hands a parcel over to the carrier", effects = Effects.IDEMPOTENT)
    String send(String number, StepContext step) {
        step.progress(0.5, "calling the carrier");
        return carrier.collect(number, step.effectKey());
    }
}
