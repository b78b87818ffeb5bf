"""Writes schemas of pydantic, with valid and invalid values."""
import datetime, decimal, enum, json, typing
from pydantic import BaseModel, Field, create_model

class Colour(enum.Enum):
    red = "red"
    blue = "blue"

class Node(BaseModel):
    name: str
    kids: list["Node"] = []

class Cat(BaseModel):
    kind: typing.Literal["cat"]
    lives: int = Field(9, gt=0, le=9)

class Dog(BaseModel):
    kind: typing.Literal["dog"]
    bark: float

def case(name, valid, invalid, **fields):
    schema = create_model("Arguments", **fields).model_json_schema()
    print(json.dumps({"from": "pydantic", "name": name, "schema": schema, "valid": valid, "invalid": invalid}))

case("tree", [{"root": {"name": "a", "kids": [{"name": "b"}]}}], [{"root": {"name": "a", "kids": [{}]}}], root=(Node, ...))
case("tuple", [{"p": ["a", 1]}], [{"p": ["a", "b"]}, {"p": ["a"]}], p=(tuple[str, int], ...))
case("optional", [{}, {"a": None}, {"a": "x"}], [{"a": 1}], a=(typing.Optional[str], None))
case("choice", [{"pet": {"kind": "cat"}}, {"pet": {"kind": "dog", "bark": 1.5}}], [{"pet": {"kind": "dog"}}, {"pet": {"kind": "cat", "lives": 0}}], pet=(typing.Annotated[typing.Union[Cat, Dog], Field(discriminator="kind")], ...))
case("decimal", [{"d": "1.50"}, {"d": 2}], [{"d": []}, {"d": "-"}], d=(decimal.Decimal, ...))
case("times", [{"at": "2026-01-31T10:00:00", "t": "10:00:00", "for_": "P1D"}], [{"at": 1, "t": "x", "for_": "x"}], at=(datetime.datetime, ...), t=(datetime.time, ...), for_=(datetime.timedelta, ...))
case("enum", [{"c": "red"}], [{"c": "green"}], c=(Colour, ...))
case("default", [{}, {"a": "x"}], [{"a": 1}], a=(str, None))
