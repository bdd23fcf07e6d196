"""The JSON interface is what its description says, and no input breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from handful.crowd import pages
from handful.crowd.app import create_app
from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from tests.crowd.clients import STUDY, Person, Started, started

ROOT = Path(__file__).resolve().parent.parent.parent
STREAMS = r"/events$"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def fuzzed(collection: Collection) -> Iterator[Started]:
    plan = StudyPlan(k=3, explorer="topx", budget=100_000, in_flight=5_000)
    with started(collection, plan, Settings(limits=ServerLimits.none())) as server:
        yield server


def described() -> dict[str, Any]:
    """The interface's description, which is the same whatever is served."""
    nothing: Any = SimpleNamespace(settings=Settings(), studies={})
    return create_app(nothing).openapi()


schema = schemathesis.openapi.from_dict(described()).exclude(path_regex=STREAMS)


@pytest.fixture(scope="module")
def person(fuzzed: Started) -> Person:
    return fuzzed.person()


@pytest.fixture(scope="module")
def cookies(fuzzed: Started, person: Person) -> dict[str, str]:
    """Of somebody who may do everything."""
    return {**dict(person.http.cookies), **dict(fuzzed.organizer().cookies)}


@schema.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_input_breaks_the_server_and_every_reply_is_as_described(
    case: schemathesis.Case, fuzzed: Started, person: Person, cookies: dict[str, str]
) -> None:
    if "study" in case.path_parameters:
        case.path_parameters["study"] = "unknown" if case.path.endswith(("/close", "/group/exclude")) else STUDY
    if isinstance(case.body, dict) and len(str(case.body.get("token", ""))) > 3:
        for question in person.next()["questions"][:1]:  # none for some seconds after many skips in a row
            case.body["token"] = question["token"]
    response = case.call(base_url=fuzzed.url, cookies=cookies)
    case.validate_response(response, checks=CHECKS)


def test_every_route_has_a_heading_in_the_documentation_and_every_heading_a_route() -> None:
    paths = described()["paths"]
    routes = {f"{method.upper()} {path}" for path, operations in paths.items() for method in operations}
    shown = {f"GET {route.path}" for route in pages.router.routes if isinstance(route, APIRoute)}
    written = set(
        re.findall(r"^### ((?:GET|POST|PUT|PATCH|DELETE) \S+)", (ROOT / "docs" / "http.md").read_text(), re.MULTILINE)
    )
    assert written == routes | shown | {"GET /static/{path}", "GET /api/openapi.json"}


def test_every_field_is_documented_and_a_list_of_fields_is_whole() -> None:
    fields_of = {name: set(of.get("properties", ())) for name, of in described()["components"]["schemas"].items()}
    documented = (ROOT / "docs" / "http.md").read_text()
    named = set(re.findall(r"[`\"](\w+)[`\"]", documented))
    assert {name: fields - named for name, fields in fields_of.items() if fields - named} == {}
    of_events = {"state", "answers", "budget", "chosen", "k"}  # a stream's messages are not described
    listed = [set(re.findall(r"\w+", found)) for found in re.findall(r'`\{("\w+"(?:, "\w+")+)\}', documented)]
    assert len(listed) > 10
    assert [fields for fields in listed if fields not in (*fields_of.values(), of_events)] == []


def test_every_error_code_is_documented() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "src" / "handful" / "crowd").rglob("*.py"))
    codes = set(re.findall(r'Refusal\(\s*(?:\d{3}|error\.status_code), "(\w+)"', sources))
    assert len(codes) > 12
    documented = (ROOT / "docs" / "http.md").read_text()
    assert {code for code in codes if f"`{code}`" not in documented} <= {"internal"}
