"""From the `type` in a job file to the class it names."""

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from .errors import nearest


class Options(BaseModel):
    """A part of a job file: unknown keys are errors that name the nearest option, and numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_nearest(cls, value: Any, build: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return build(value)
        except ValidationError as error:
            faults = [_with_hint(fault, cls.model_fields) for fault in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(cls.__name__, faults) from None


def _with_hint(fault: Any, known: Any) -> InitErrorDetails:
    kind, reason = fault["type"], fault["msg"].removeprefix("Value error, ")
    if kind == "extra_forbidden" and len(fault["loc"]) == 1:
        kind, reason = "unknown_option", f"is not an option here; {nearest(str(fault['loc'][0]), known)}"
    error = PydanticCustomError(kind, "{reason}", {"reason": reason})
    return {"type": error, "loc": fault["loc"], "input": fault["input"]}


class Plugin(Options):
    """Something that a job file configures: its fields are the options, checked when the job is read."""

    @classmethod
    def type_name(cls) -> str:
        """Return the `type` that a job file uses for this class."""
        module, _, last = cls.__module__.rpartition(".")
        if module.startswith("sdg."):
            return last
        file = getattr(sys.modules.get(cls.__module__), "__file_in_job__", None)
        return f"{file or cls.__module__}:{cls.__name__}"


def find(package: str, type_name: str, folder: Path | None = None) -> type[Plugin]:
    """Return the class that `type_name` names.

    `lighting` is the class `Lighting` of `sdg.randomizers.lighting`, `my_lab.fog:Fog` any importable class, and
    `./fog.py:Fog` a class in a file beside the job. Raises ValueError with the names that exist.
    """
    module_name, colon, class_name = type_name.partition(":")
    if not colon:
        if type_name not in names(package):
            raise ValueError(f"no type '{type_name}' in {package}; {nearest(type_name, names(package))}")
        module_name, class_name = f"{package}.{type_name}", type_name.title().replace("_", "")
    module = _from_file(module_name, folder) if module_name.endswith(".py") else _imported(module_name, type_name)
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, Plugin)) or inspect.isabstract(found):
        raise ValueError(f"{module_name} has no plug-in class '{class_name}'; {nearest(class_name, _classes(module))}")
    return found


def _classes(module: ModuleType) -> list[str]:
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    return [found.__name__ for found in classes if found.__module__ == module.__name__]


def _imported(module_name: str, type_name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            hint = "is it installed? a file beside the job is named './file.py:Class'"
            raise ValueError(f"no module '{error.name}' for type '{type_name}'; {hint}") from None
        raise ValueError(f"type '{type_name}' needs the module '{error.name}', which is not installed") from None
    except Exception as error:
        raise ValueError(f"type '{type_name}' cannot be imported: {type(error).__name__}: {error}") from error


def _from_file(file: str, folder: Path | None) -> ModuleType:
    path = ((folder or Path()) / file).resolve()
    if not path.is_file():
        raise ValueError(f"no file '{path}' for a plug-in")
    name = f"sdg_file_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)["__file_in_job__"] = file
    sys.modules[name] = module  # type annotations are looked up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def names(package: str) -> list[str]:
    """Return the types that come with sdg."""
    path = importlib.import_module(package).__path__
    return sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_"))


def named_in(package: str, base: type[Plugin]) -> BeforeValidator:
    """Let a pydantic field take `{type: lighting, ...}` and hold a `Lighting(...)`, a `base` of `package` or a user's own."""

    def build(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            value = {"type": value}
        if isinstance(value, Plugin):
            return value
        if not isinstance(value, dict):
            raise _fault(f"a type or a mapping with `type` is needed; {nearest('', names(package))}")
        options = dict(value)
        type_name = options.pop("type", None)
        if not isinstance(type_name, str):
            raise _fault(f"`type` is missing; {nearest('', names(package))}")
        try:
            plugin = find(package, type_name, (info.context or {}).get("folder"))
        except ValueError as error:
            raise _fault(str(error)) from None
        if not issubclass(plugin, base):
            raise _fault(f"'{plugin.__name__}' is no {base.__name__}")
        return plugin.model_validate(options, context=info.context)

    return BeforeValidator(build)


def _fault(reason: str) -> PydanticCustomError:
    return PydanticCustomError("plugin", "{reason}", {"reason": reason})


def _resolve(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    resolved = path if folder is None else Path(folder) / path
    if not resolved.exists():
        raise PydanticCustomError("path", "{reason}", {"reason": f"no such file or folder: {resolved}"})
    return resolved


InputPath = Annotated[Path, AfterValidator(_resolve)]
"""A file or folder that must exist; relative paths start at the folder of the job file."""
