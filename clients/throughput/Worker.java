import io.keelson.client.Keelson;

/** A worker of the Java client for measure.py: java -cp CLIENT Worker.java TOOL SLOTS. */
class Worker {
    public static void main(String[] arguments) throws Exception {
        try (var worker = io.keelson.client.worker.Worker.builder(Keelson.connect()).slots(Integer.parseInt(arguments[1]))
                .tool(arguments[0], step -> step.input().path("n")).build().start()) {
            System.out.println("serving");
            System.in.read();
        }
    }
}
