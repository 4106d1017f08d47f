package example;

import io.keelson.client.worker.AgentHandler;
import io.keelson.client.worker.Turn;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Takes the turns of agents: the first one requests a call, the second one ends the task with its output. */
@Component
class Packer implements AgentHandler {
    @Override
    public Turn.Answer take(Turn turn) {
        if (turn.transcript().isEmpty()) {
            return Turn.call("parcel.pack", Map.of("order", turn.goal(), "items", List.of("lamp")));
        }
        Turn.Result packed = turn.transcript().get(0).results().get(0);
        return Turn.done(packed.error() == null ? packed.output() : packed.error());
    }
}
