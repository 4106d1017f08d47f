package io.keelson.server.annex.oidc;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIRequest;
import com.microsoft.playwright.APIRequestContext;
import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.Cookie;
import com.microsoft.playwright.options.RequestOptions;
import com.microsoft.playwright.options.SameSiteAttribute;
import io.keelson.core.Breadth;
import io.keelson.server.api.web.DashboardBrowser;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Chromium signs in at the certified provider of npm, to a server behind nginx with the file of {@code docs/operate/proxies.md}. */
@Breadth.InPart(2)
class SignInBehindTlsTest {

    private static final Path NGINX = Path.of("/usr/sbin/nginx");
    private static final Path PAGE = Path.of("../docs/operate/proxies.md");
    private static final Pattern FILE = Pattern.compile("```nginx\n(.*?)```", Pattern.DOTALL);
    private static final String CLIENT = "keelson";

    @TempDir
    private Path folder;
    private OpenIdProvider provider;
    private Server server;
    private Process proxy;

    @AfterEach
    void end() throws InterruptedException {
        if (proxy != null) {
            proxy.destroy();
            proxy.waitFor();
        }
        if (server != null) {
            server.close();
        }
        if (provider != null) {
            provider.close();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private void start(URI url) throws Exception {
        provider = new OpenIdProvider();
        provider.client(CLIENT, url, List.of("authorization_code", "refresh_token"));
        provider.person("ann", Map.of("groups", List.of("ops")));
        Map<String, String> settings = new HashMap<>(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()),
                "KEELSON_PUBLIC_URL", url.toString(), "KEELSON_OIDC_ISSUER", provider.issuer(),
                "KEELSON_OIDC_CLIENT_ID", CLIENT, "KEELSON_OIDC_CLIENT_SECRET", "a secret of keelson",
                "KEELSON_OIDC_SCOPES", "openid profile groups", "KEELSON_OIDC_ROLES", "ops=default:operator"));
        settings.put("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true");
        server = Server.start(Settings.load(settings, folder, folder));
        proxy(url);
    }

    /** With the addresses and the certificate of the test. */
    private void proxy(URI url) throws Exception {
        Path key = folder.resolve("key.pem");
        Path certificate = folder.resolve("certificate.pem");
        assertThat(new ProcessBuilder("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                key.toString(), "-out", certificate.toString(), "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost").redirectErrorStream(true)
                .redirectOutput(folder.resolve("openssl.log").toFile()).start().waitFor()).isZero();
        Matcher file = FILE.matcher(Files.readString(PAGE));
        assertThat(file.find()).isTrue();
        String configuration = file.group(1).replace("127.0.0.1:7331", "127.0.0.1:" + server.baseUrl().getPort())
                .replace("listen 443 ssl", "listen 127.0.0.1:" + url.getPort() + " ssl")
                .replace("server_name keelson.example", "server_name localhost")
                .replace("/etc/ssl/keelson.crt", certificate.toString())
                .replace("/etc/ssl/keelson.key", key.toString());
        Path all = Files.writeString(folder.resolve("nginx.conf"), "events {}\nhttp {\naccess_log off;\n"
                + configuration + "}\n");
        proxy = new ProcessBuilder(NGINX.toString(), "-p", folder.toString(), "-c", all.toString(), "-e",
                folder.resolve("error.log").toString(), "-g",
                "daemon off; master_process off; pid " + folder.resolve("pid") + ";").redirectErrorStream(true)
                .redirectOutput(folder.resolve("nginx.log").toFile()).start();
    }

    @Test
    void personSignsInAndOutThroughTheProxy() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(NGINX), "apt-get install --no-install-recommends nginx-light");
        URI url = URI.create("https://localhost:" + freePort());
        start(url);
        try (Playwright playwright = DashboardBrowser.playwright();
                Browser chromium = DashboardBrowser.chromium(playwright)) {
            APIRequestContext program =
                    playwright.request().newContext(new APIRequest.NewContextOptions().setIgnoreHTTPSErrors(true));
            Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions()
                    .until(() -> program.get(url + "/readyz").ok());
            assertThat(redirect(program, url, "localhost:" + url.getPort())).isEqualTo(url + "/auth/callback");
            assertThat(redirect(program, url, "evil.example")).as("of a header that a client sends")
                    .isEqualTo(url + "/auth/callback");

            BrowserContext context =
                    chromium.newContext(new Browser.NewContextOptions().setIgnoreHTTPSErrors(true));
            Page page = context.newPage();
            page.navigate(url + "/ui/runs");
            page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Sign in")).click();
            page.locator("input[name=login]").fill("ann");
            page.locator("input[name=password]").fill("x");
            page.locator("button[type=submit]").click();
            page.locator("button[type=submit]").click();
            page.waitForURL(url + "/ui/runs");
            assertThat(page.getByText("ann", new Page.GetByTextOptions().setExact(true)).first()).isVisible();
            List<Cookie> cookies = context.cookies(url.toString());
            assertThat(cookies).isNotEmpty().allSatisfy(each -> {
                assertThat(each.name).startsWith("__Host-keelson");
                assertThat(each.secure).isTrue();
                assertThat(each.httpOnly).isTrue();
            });
            assertThat(cookies).filteredOn(each -> each.name.startsWith("__Host-keelson_")).singleElement()
                    .satisfies(each -> assertThat(each.sameSite).isEqualTo(SameSiteAttribute.STRICT));
            page.reload();
            page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign out")).first().click();
            page.locator("button[value=yes]").click();
            page.waitForURL(url + "/ui/");
            assertThat(page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Sign in"))).isVisible();
            assertThat(context.cookies(url.toString())).noneMatch(each -> each.name.startsWith("__Host-keelson_"));
        }
    }

    /** The address to which the provider is to send the browser back. */
    private static String redirect(APIRequestContext program, URI url, String forwarded) {
        APIResponse login = program.get(url + "/auth/login", RequestOptions.create().setMaxRedirects(0)
                .setHeader("X-Forwarded-Host", forwarded).setHeader("X-Forwarded-Proto", "http"));
        Matcher redirect = Pattern.compile("redirect_uri=([^&]+)").matcher(login.headers().get("location"));
        return redirect.find() ? URLDecoder.decode(redirect.group(1), StandardCharsets.UTF_8)
                : "";
    }
}
