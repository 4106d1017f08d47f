package io.keelson.server.api.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Chromium on the dashboard of one server. Each page notes what must never happen, and {@link #clean} asserts that it did not. */
public final class DashboardBrowser implements AutoCloseable {

    private static final List<String> ARGUMENTS =
            List.of("--no-sandbox", "--disable-gpu", "--disable-background-networking",
                    "--disable-component-update", "--disable-sync", "--no-first-run", "--renderer-process-limit=1",
                    "--host-resolver-rules=MAP keelson.test 127.0.0.1");
    private static final String AXE = resource("/axe.min.js");
    private static final String RUN_AXE =
            """
            async () => (await axe.run(document, {iframes: false, resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}))
              .violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).join(' | '))""";

    private static final int SLOW_MACHINE_MS = 30_000;

    private final Playwright playwright;
    private final Browser browser;
    private final URI server;
    private final String key;
    private final Queue<String> faults = new ConcurrentLinkedQueue<>();
    private final Queue<String> expected = new ConcurrentLinkedQueue<>();
    private @Nullable BrowserContext usual;
    private @Nullable Page rest;

    public DashboardBrowser(URI server, String key) {
        this.server = server;
        this.key = key;
        PlaywrightAssertions.setDefaultAssertionTimeout(SLOW_MACHINE_MS);
        playwright = playwright();
        browser = chromium(playwright);
    }

    /** Without a download of browsers. */
    public static Playwright playwright() {
        return Playwright.create(new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1",
                "PLAYWRIGHT_NODEJS_PATH", program("node"))));
    }

    /** The installed browser. */
    public static Browser chromium(Playwright playwright) {
        return playwright.chromium().launch(new BrowserType.LaunchOptions().setArgs(ARGUMENTS)
                .setExecutablePath(Path.of(program("chromium-headless-shell", "chromium"))));
    }

    /** The first of these that is installed. */
    private static String program(String... names) {
        List<String> folders = List.of(System.getenv("PATH").split(":"));
        return Stream.of(names).flatMap(name -> folders.stream().map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable).findFirst()
                .orElseThrow(() -> new AssertionError("not installed: " + String.join(", ", names))).toString();
    }

    private static String resource(String name) {
        try (InputStream bytes = DashboardBrowser.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(bytes, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A page of a new browser context that is not signed in. */
    Page open(String path, int width, int height, ColorScheme scheme) {
        return tab(context(width, height, scheme), path);
    }

    private BrowserContext context(int width, int height, ColorScheme scheme) {
        BrowserContext context = browser.newContext(new Browser.NewContextOptions().setViewportSize(width, height)
                .setColorScheme(scheme).setTimezoneId("UTC").setLocale("en-GB"));
        context.setDefaultTimeout(SLOW_MACHINE_MS);
        context.addInitScript(
                "addEventListener('securitypolicyviolation', e => console.error('CSP', e.violatedDirective, e.blockedURI));"
                        + "addEventListener('unhandledrejection', e => console.error('REJECTED', String(e.reason)));");
        return context;
    }

    /** One more tab of a browser context. */
    Page tab(BrowserContext context, String path) {
        Page page = context.newPage();
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") || message.type().equals("warning")) {
                faults.add(message.text() + " " + message.location());
            }
        });
        page.onPageError(faults::add);
        page.onRequest(request -> {
            if (!request.url().startsWith(server + "/") && !request.url().startsWith("data:")
                    && !request.url().startsWith("blob:")) {
                faults.add("request to " + request.url());
            }
        });
        page.navigate(server + path);
        return page;
    }

    /** A page of a new browser context, signed in. */
    Page signedInAnew(String path) {
        return signedIn(path, 1440, 900, ColorScheme.LIGHT, key);
    }

    /** The same with another look or key. */
    Page signedIn(String path, int width, int height, ColorScheme scheme, String apiKey) {
        Page page = open(path, width, height, scheme);
        signIn(page, apiKey);
        return page;
    }

    void signIn(Page page) {
        signIn(page, key);
    }

    void signIn(Page page, String apiKey) {
        page.getByLabel("API key").fill(apiKey);
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign in")).click();
        page.locator(".shell").waitFor();
    }

    /**
     * A page of the context that most tests share, signed in: the browser has read the dashboard's files before. When a test
     * closes the context, the next one gets another. A test that changes what the browser keeps takes a context of its own.
     */
    public Page signedIn(String path) {
        if (usual != null) {
            return tab(usual, path);
        }
        usual = context(1440, 900, ColorScheme.LIGHT);
        usual.onClose(_ -> usual = null);
        // While it is open, all pages are drawn by one process.
        rest = usual.newPage();
        rest.navigate(server + "/healthz");
        Page page = tab(usual, path);
        signIn(page);
        return page;
    }

    /** Follows a link of the page, without loading it again. */
    static void go(Page page, String path) {
        page.evaluate(
                "path => { const a = document.createElement('a'); a.href = path; document.body.append(a); a.click(); a.remove(); }",
                path);
    }

    /** What axe finds against WCAG 2.2 A and AA. */
    @SuppressWarnings("unchecked")
    List<String> violations(Page page) {
        if ((Boolean) page.evaluate("!window.axe")) {
            page.evaluate(AXE);
        }
        return (List<String>) page.evaluate(RUN_AXE);
    }

    /** A failure that the test asks for, until {@link #clean}. */
    public void expect(String text) {
        expected.add(text);
    }

    /** Closes all pages, and asserts that none had an error, a violated policy, a rejection or a request to another host. */
    public void clean() {
        browser.contexts().stream().filter(context -> context != usual).forEach(BrowserContext::close);
        if (usual != null) {
            usual.pages().stream().filter(page -> page != rest).forEach(Page::close);
        }
        List<String> seen = faults.stream().filter(each -> expected.stream().noneMatch(each::contains)).toList();
        faults.clear();
        expected.clear();
        assertThat(seen).isEmpty();
    }

    @Override
    public void close() {
        browser.close();
        playwright.close();
    }
}
