package io.keelson.process;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.api.web.DashboardBrowser;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A page of a run whose server is killed says so, and is right again without a reload when the server is back. */
@Breadth.InPart(0)
class DashboardKillTest {

    private static final LocatorAssertions.ContainsTextOptions PATIENT =
            new LocatorAssertions.ContainsTextOptions().setTimeout(30_000);

    @TempDir
    Path folder;

    @Test
    void anOpenPageIsRightAfterTheServerWasKilled() throws Exception {
        Map<String, String> shared = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()),
                "KEELSON_HTTP_PORT", Integer.toString(freePort()));
        Path home = folder.resolve("one");
        try (ServerProcess doomed = ServerProcess.start(home, shared)) {
            String key = Files.readString(home.resolve("api-key")).strip();
            String run = doomed.client().runs().create(RunRequest.of(mission().toJson()).start()).id();
            try (DashboardBrowser browser = new DashboardBrowser(doomed.url(), key)) {
                Page page = browser.signedIn("/ui/runs/" + run);
                Locator state = page.locator("h1 + .state");
                PlaywrightAssertions.assertThat(state).containsText("running");
                PlaywrightAssertions.assertThat(page.locator(".live").first()).containsText("Live");
                doomed.kill();
                PlaywrightAssertions.assertThat(page.locator(".live").first()).containsText("Reconnecting");
                try (ServerProcess again = ServerProcess.start(home, shared)) {
                    Keelson keelson = again.client();
                    keelson.runs().signal(run, "go", Map.of());
                    keelson.runs().awaitEnd(run, Duration.ofMinutes(1));
                    PlaywrightAssertions.assertThat(state).containsText("completed", PATIENT);
                    page.getByRole(AriaRole.TAB, new Page.GetByRoleOptions().setName("Events")).click();
                    PlaywrightAssertions.assertThat(page.locator("k-run-tab tbody tr"))
                            .hasCount(keelson.runs().events(run, 0, 200).items().size());
                }
                browser.expect("Failed to load resource");
                browser.clean();
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static Mission mission() {
        return Mission.named("watched").goal("wait").task("wait",
                task -> task.step("signal", "signal.wait", Map.of("name", "go")));
    }
}
