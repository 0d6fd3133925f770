"""Types: what fits and what does not."""

import pytest

from bayplan.cel import CelError, Environment
from bayplan.cel.types import BOOL, INT, STRING, Type, list_of, map_of, signature, unify
from tests.cel.evaluating import value

ENVIRONMENT = Environment({"names": list_of(STRING), "ages": map_of(STRING, INT)})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("names[0]", STRING),
        ("ages['a'] + 1", INT),
        ("names.map(n, ages[n])", list_of(INT)),
        ("names.all(n, n in ages)", BOOL),
        ("names.filter(n, true)", list_of(STRING)),
        ("true ? 1 : 2", INT),
        ("[]", list_of(Type("dyn"))),
        ("ages.?a", Type("optional_type", (INT,))),
        ("ages.?a.orValue(3)", INT),
        ("names.transformMap(i, n, n)", map_of(INT, STRING)),
    ],
)
def test_the_type_of_an_expression_is_found(expression: str, expected: Type) -> None:
    assert ENVIRONMENT.compile(expression).type == expected


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("names + 1", "found no matching overload for '_+_' applied to '(list(string), int)'"),
        ("names[0].foo", "type 'string' does not support field selection"),
        ("nobody", "undeclared reference to 'nobody'"),
        ("nothing(1)", "undeclared reference to 'nothing'"),
        ("names.contains('a')", "applied to 'list(string).(string)'"),
        ("1 && true", "expected type 'bool' but found 'int'"),
        ("[1, 'a']", "expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': true}", "expected type 'int' but found 'bool'"),
        ("1.all(x, true)", "cannot be range of a comprehension"),
        ("'%d'.format(['a'])", "error during formatting: %d cannot be used on string"),
        ("'%d'.format([1, 2])", "string.format takes 1 arguments here, got 2"),
        ("int('x') == 1", "type conversion error from 'string' to 'int'"),
        ("'a'.matches('(')", "error parsing regexp"),
    ],
)
def test_what_does_not_fit_is_refused(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as caught:
        ENVIRONMENT.compile(expression)
    assert problem in str(caught.value)


def test_mixed_literals_are_allowed_in_a_format() -> None:
    assert value("'%s %d'.format(['a', 1])") == "a 1"


def test_unifying_finds_out_what_variables_stand_for() -> None:
    wanted = signature("(map<A, B>, A) -> B")
    assert unify({}, [map_of(STRING, INT), STRING], wanted.parameters) == {"$A": STRING, "$B": INT}
    assert unify({}, [map_of(STRING, INT), INT], wanted.parameters) is None
    assert unify({}, [list_of(Type("$A"))], [Type("$A")]) is None
