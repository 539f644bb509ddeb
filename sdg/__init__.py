"""Randomized, ray-traced, exactly labelled training data for robots that see. Start reading at `sdg/run.py`."""

from .job import Job as Job
from .randomizer import Draws as Draws
from .randomizer import Randomizer as Randomizer
from .renderer import Renderer as Renderer
from .scene import Body as Body
from .scene import Camera as Camera
from .scene import Light as Light
from .scene import Material as Material
from .scene import Scene as Scene
from .scene import SceneSource as SceneSource
from .writer import Writer as Writer

__version__ = "0.1.0"
