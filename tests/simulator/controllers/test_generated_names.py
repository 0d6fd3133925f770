"""Names that controllers make up: Kubernetes' alphabet and lengths, the same for a seed, never twice."""

from __future__ import annotations

from bayplan.objects.meta import ObjectMeta
from bayplan.objects.workload import PodTemplateSpec
from bayplan.simulator.controllers.generated_names import ALPHABET, Names, suffix


def template(app: str) -> PodTemplateSpec:
    return PodTemplateSpec(metadata=ObjectMeta(labels={"app": app}))


def test_a_suffix_has_five_letters_of_the_safe_alphabet() -> None:
    for number in range(200):
        made = suffix(str(number))
        assert len(made) == 5
        assert set(made) <= set(ALPHABET)


def test_the_same_seed_gives_the_same_names_and_another_seed_others() -> None:
    def names(seed: int) -> list[str]:
        given = Names(seed)
        return [given.generate("Pod", "default", "web-") for _ in range(50)]

    assert names(1) == names(1)
    assert set(names(1)) != set(names(2))


def test_no_name_is_given_twice_nor_one_that_is_taken() -> None:
    free = Names(0).generate("Pod", "default", "web-")
    names = Names(0)
    names.take("Pod", "default", free)
    made = [names.generate("Pod", "default", "web-") for _ in range(500)]
    assert len({free, *made}) == 501


def test_names_of_other_namespaces_do_not_count() -> None:
    free = Names(0).generate("Pod", "default", "web-")
    names = Names(0)
    names.take("Pod", "other", free)
    assert names.generate("Pod", "default", "web-") == free


def test_a_template_hash_has_eight_to_ten_safe_letters_and_follows_the_template() -> None:
    names = Names(0)
    digest = names.template_hash(template("web"))
    assert 8 <= len(digest) <= 10
    assert set(digest) <= set(ALPHABET)
    assert digest == names.template_hash(template("web"))
    assert digest != names.template_hash(template("api"))
