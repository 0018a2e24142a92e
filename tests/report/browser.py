"""A headless Chromium that tests drive, or a visible skip."""

import contextlib
import shutil

import pytest


@pytest.fixture(scope="module")
def chromium():
    """One for a file of tests: starting it takes longer than most of them."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs python3-selenium, which is not installed")
    from selenium.webdriver.chrome.service import Service

    browser, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver_path:
        pytest.skip("needs chromium and chromium-driver, which are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(driver_path), options=options)
    yield driver
    driver.quit()


@contextlib.contextmanager
def opened(driver, file, width=1300, height=1000):
    """Opens a page in light colours. It must not complain and must not ask for anything."""
    driver.set_window_size(width, height)
    # No window is as narrow as a phone.
    phone = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride" if width < 500 else "Emulation.clearDeviceMetricsOverride", phone if width < 500 else {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
    driver.get(file.as_uri())
    yield driver
    assert driver.get_log("browser") == []
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    driver.execute_script("try { localStorage.clear() } catch {}")
