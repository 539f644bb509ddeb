"""From the `type` in a job file to the class it names."""

import importlib
import importlib.util
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo
from pydantic_core import PydanticCustomError

from .errors import nearest


class Plugin(BaseModel):
    """Something that a job file configures: its fields are the options, checked when the job is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    @classmethod
    def type_name(cls) -> str:
        """Return the `type` that a job file uses for this class."""
        module, _, last = cls.__module__.rpartition(".")
        return last if module.startswith("sdg.") else f"{cls.__module__}:{cls.__name__}"


def find(package: str, type_name: str, folder: Path | None = None) -> type[Plugin]:
    """Return the class that `type_name` names.

    `lighting` is the class `Lighting` of `sdg.randomizers.lighting`, `my_lab.fog:Fog` any importable class, and
    `./fog.py:Fog` a class in a file beside the job. Raises ValueError with the names that exist.
    """
    module_name, _, class_name = type_name.partition(":")
    if not class_name:
        module_name, class_name = f"{package}.{type_name}", type_name.title().replace("_", "")
    module = _from_file(module_name, folder) if module_name.endswith(".py") else _imported(module_name, package, type_name)
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, Plugin)) or inspect.isabstract(found):
        raise ValueError(f"{module_name} has no plug-in class '{class_name}'")
    return found


def _imported(module_name: str, package: str, type_name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            raise ValueError(f"type '{type_name}' needs the module '{error.name}', which is not installed") from None
        raise ValueError(f"no type '{type_name}' in {package}; {nearest(type_name, names(package))}") from None


def _from_file(file: str, folder: Path | None) -> ModuleType:
    path = (folder or Path()) / file
    if not path.is_file():
        raise ValueError(f"no file '{path}' for a plug-in")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(package: str) -> list[str]:
    """Return the types that come with sdg."""
    path = importlib.import_module(package).__path__
    return sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_"))


def named_in(package: str) -> BeforeValidator:
    """Let a pydantic field take `{type: lighting, ...}` and hold a `Lighting(...)`."""

    def build(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            value = {"type": value}
        if not isinstance(value, dict):
            return value
        options = dict(value)
        type_name = options.pop("type", None)
        if not isinstance(type_name, str):
            raise PydanticCustomError("plugin", "{reason}", {"reason": f"`type` is missing; {nearest('', names(package))}"})
        try:
            plugin = find(package, type_name, (info.context or {}).get("folder"))
        except ValueError as error:
            raise PydanticCustomError("plugin", "{reason}", {"reason": str(error)}) from None
        return plugin.model_validate(options, context=info.context)

    return BeforeValidator(build)


def _resolve(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get("folder")
    resolved = path if folder is None else Path(folder) / path
    if not resolved.exists():
        raise PydanticCustomError("path", "{reason}", {"reason": f"no such file or folder: {resolved}"})
    return resolved


InputPath = Annotated[Path, AfterValidator(_resolve)]
"""A file or folder that must exist; relative paths start at the folder of the job file."""
