import io.keelson.client.Keelson;
import io.keelson.client.worker.ErrorClass;
import io.keelson.client.worker.StepContext;
import io.keelson.client.worker.StepFailure;
import io.keelson.client.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A worker that serves one tool of its own, {@code text.wordcount}: lines and words of a folder's text files.
 *
 * <p>After each file it reports its progress to the server. When this process is stopped or killed, the next one continues
 * after the last counted file.
 */
public class WordCountWorker {

    /** The step's input, by the names in the mission. {@code pause_ms} leaves time to watch, or to kill the worker. */
    record Input(String path, String suffix, long pause_ms) {
    }

    /** What has been counted so far: the output in the end, and what the next worker receives before that. */
    record Count(String last, int files, long lines, long words) {

        Count plus(Path file) throws IOException {
            long newLines = 0;
            long newWords = 0;
            boolean inWord = false;
            for (byte b : Files.readAllBytes(file)) {
                boolean space = b == ' ' || b >= '\t' && b <= '\r';
                newLines += b == '\n' ? 1 : 0;
                newWords += !space && !inWord ? 1 : 0;
                inWord = !space;
            }
            return new Count(file.toString(), files + 1, lines + newLines, words + newWords);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%1$tFT%1$tT%1$tz %4$s %5$s%6$s%n");
        Worker.builder(Keelson.connect())
                .tool("text.wordcount", WordCountWorker::count)
                .slots(2)
                .grace(Duration.ofSeconds(2))
                .build()
                .serve();
    }

    static Object count(StepContext step) throws StepFailure, IOException, InterruptedException {
        Input input = step.input(Input.class);
        List<Path> files = files(input);
        Count count = step.previousDetails(Count.class).orElse(new Count("", 0, 0, 0));
        if (count.files() > 0) {
            step.log("carrying on after " + count.last());
        }
        for (Path file : files) {
            if (file.toString().compareTo(count.last()) <= 0) {
                continue;
            }
            count = count.plus(file);
            step.details(count);
            step.log(file.toString());
            step.progress((double) count.files() / files.size(), count.files() + " of " + files.size() + " files");
            Thread.sleep(input.pause_ms());
        }
        return count;
    }

    /** In the order of their names, which is the same in every execution. */
    private static List<Path> files(Input input) throws StepFailure {
        Path folder = Path.of(input.path());
        try (Stream<Path> found = Files.walk(folder)) {
            return found.filter(Files::isRegularFile).filter(file -> file.toString().endsWith(input.suffix()))
                    .sorted((a, b) -> a.toString().compareTo(b.toString())).toList();
        } catch (IOException e) {
            throw new StepFailure("FOLDER_NOT_READABLE", ErrorClass.PERMANENT, folder + ": " + e);
        }
    }
}
