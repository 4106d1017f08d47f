package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ScreenshotAnimations;
import io.keelson.server.api.http.ApiServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Writes the pictures of the documentation, with -Dupdate.docs=true: a workspace with usual runs, seen by a person. */
@EnabledIfSystemProperty(named = "update.docs", matches = "true")
class DashboardPicturesTest {

    private static final long MOST_BYTES = 1_500_000;

    @TempDir
    Path folder;

    @Test
    void picturesAreWritten() throws Exception {
        Path pictures = Path.of("").toAbsolutePath().getParent().resolve("docs/pictures");
        try (ApiServer api = new ApiServer(folder);
                DashboardBrowser browser = new DashboardBrowser(api.url(), api.key())) {
            DashboardSeed seed = new DashboardSeed(api);
            String recipe = seed.recipe("print-letter");
            seed.day();
            String run = seed.releaseTrain();
            seed.approvedPlan();
            seed.work(recipe);
            Map<String,
                    String> paths = new LinkedHashMap<>(
                            Map.of("overview", "/ui/", "runs", "/ui/runs", "run", "/ui/runs/" + run + "?task=approve",
                                    "plan", "/ui/inbox?kind=plan_approval", "launch", "/ui/launch?recipe=" + recipe,
                                    "money", "/ui/money", "board", "/ui/board", "schedules", "/ui/schedules"));
            Page light = browser.signedIn("/ui/", 1280, 760, ColorScheme.LIGHT, api.key());
            paths.forEach((name, path) -> picture(light, path, pictures.resolve(name + ".png")));
            Page dark = browser.signedIn("/ui/", 1280, 760, ColorScheme.DARK, api.key());
            picture(dark, "/ui/runs/" + run, pictures.resolve("run-dark.png"));
            Page phone = browser.signedIn("/ui/", 390, 780, ColorScheme.LIGHT, api.key());
            picture(phone, "/ui/runs/" + run, pictures.resolve("run-phone.png"));
            browser.clean();
        }
        try (Stream<Path> files = Files.list(pictures)) {
            assertThat(files.mapToLong(DashboardPicturesTest::size).sum()).isLessThan(MOST_BYTES);
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void picture(Page page, String path, Path file) {
        DashboardBrowser.go(page, path);
        page.locator(".page h1").waitFor();
        PlaywrightAssertions.assertThat(page.locator(".skeleton")).hasCount(0);
        PlaywrightAssertions.assertThat(page.locator(".run-row:has(.f-works) .c-now:empty")).hasCount(0);
        page.screenshot(new Page.ScreenshotOptions().setAnimations(ScreenshotAnimations.DISABLED).setPath(file));
    }
}
