"""The tests of reminder.yaml with pytest: `pip install keelson pytest pyyaml`, and `keelson` on the path."""
import datetime
import pathlib

import yaml
from keelson.testing import TestKeelson

MISSION = yaml.safe_load(pathlib.Path(__file__).with_name("reminder.yaml").read_text("utf-8"))
WEEK = datetime.timedelta(days=7)


def test_customer_is_reminded_after_a_week(keelson: TestKeelson) -> None:
    keelson.model("Dear Ada, please pay.")
    mail = keelson.tool("mail.send").returns("sent")
    run = keelson.start(MISSION, customer="Ada")
    keelson.step(run, "paid", "waiting")

    keelson.advance(WEEK)

    assert keelson.end(run).state == "completed"
    assert [call.input["text"] for call in mail.calls] == ["Dear Ada, please pay."]


def test_mail_has_one_effect_when_its_worker_crashes(keelson: TestKeelson) -> None:
    keelson.model("Please pay.")
    mail = keelson.tool("mail.send").returns("sent", "sent")
    keelson.fault("crash_before_report", "mail.send")
    run = keelson.start(MISSION, customer="Ada")
    keelson.step(run, "paid", "waiting")
    keelson.advance(WEEK)
    keelson.until(lambda: mail.calls)

    keelson.advance(datetime.timedelta(minutes=1))

    assert keelson.end(run).state == "completed"
    assert len(mail.calls) == 2
    assert len(mail.effects) == 1


def test_mail_is_sent_once_when_its_report_is_lost(keelson: TestKeelson) -> None:
    keelson.model("Please pay.")
    mail = keelson.tool("mail.send").returns("sent")
    keelson.fault("report_lost", "mail.send")
    run = keelson.start(MISSION, customer="Ada")
    keelson.step(run, "paid", "waiting")

    keelson.advance(WEEK)

    assert keelson.end(run).state == "completed"
    assert len(mail.calls) == 1


def test_reminder_survives_a_failure_of_the_provider(keelson: TestKeelson) -> None:
    keelson.model("Please pay.")
    keelson.fault("provider_500")
    keelson.tool("mail.send").returns("sent")
    run = keelson.start(MISSION, customer="Ada")
    keelson.step(run, "paid", "waiting")
    keelson.advance(WEEK)
    keelson.event(run, "step_deferred")

    keelson.advance(datetime.timedelta(minutes=1))

    assert keelson.end(run).state == "completed"
    assert len(keelson.questions()) == 2
