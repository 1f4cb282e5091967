"""No request that the OpenAPI description allows, and more, ends in an error of the server's (schemathesis)."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from entitynlm.explorer.application import make_app
from entitynlm.explorer.jobs import Job
from entitynlm.explorer.texts import LazyModel, Text, TextShelf
from support.explorer import SMALL, TOKEN

schemathesis = pytest.importorskip("schemathesis")


def leave(model: LazyModel, text: Text, job: Job) -> None:
    """Measure nothing: what is tested is the border, not the model."""


def refuse() -> Any:
    raise AssertionError("no request here needs the model")


app = make_app(
    TextShelf(LazyModel(SMALL, refuse), leave, most_words=3000), token=TOKEN, hosts=["127.0.0.1:1"]
)
HEADERS = {"X-Explorer-Token": TOKEN, "Host": "127.0.0.1:1"}
schema = schemathesis.openapi.from_dict(app.openapi())
CHECKS = (schemathesis.checks.not_a_server_error,)


@schema.parametrize()
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_request_is_answered_as_described(case: Any) -> None:
    answer = case.call(app=app, base_url="http://127.0.0.1:1", headers=HEADERS)
    case.validate_response(answer, checks=CHECKS)


def test_every_request_is_described() -> None:
    described = app.openapi()
    assert len(described["paths"]) >= 13
    for path, methods in described["paths"].items():
        assert path.startswith("/api/")
        for operation in methods.values():
            assert operation["description"] and "422" in operation["responses"]
