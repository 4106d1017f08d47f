package io.keelson.server.web;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;

/** Words that tests of the dashboard share. */
abstract class DashboardChecks {

    static void sees(Locator locator) {
        PlaywrightAssertions.assertThat(locator).isVisible();
    }

    static Locator button(Page page, String name) {
        return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    static Locator dialog(Page page) {
        return page.getByRole(AriaRole.DIALOG);
    }

    /** A button of the dialog. */
    static Locator save(Page page, String name) {
        return dialog(page).getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(name).setExact(true));
    }
}
