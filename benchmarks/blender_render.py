"""Render an exchanged scene with Cycles; runs under a Python that has `bpy`, never imported by sdg.

usage: python blender_render.py SCENE.npz REQUESTS.json RESULTS_FOLDER
"""

import json
import math
import resource
import sys

import bpy
import numpy as np
from mathutils import Matrix


def cpu() -> float:
    """Return the CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_image(name, pixels, srgb):
    """Make a packed image; Blender's rows start at the bottom."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.new(name, width, height, alpha=False)
    image.colorspace_settings.name = "sRGB" if srgb else "Non-Color"
    rgba = np.ones((height, width, 4), np.float32)
    rgba[..., :3] = (pixels if pixels.ndim == 3 else pixels[..., None])[::-1] / 255.0
    image.pixels.foreach_set(rgba.ravel())
    image.pack()
    return image


def texture_node(tree, data, number, options):
    """Return an image texture node with its uv transform."""
    image = make_image(f"texture{number}", data[f"texture{number}"], options["srgb"])
    node, mapping, uv = (
        tree.nodes.new(kind) for kind in ("ShaderNodeTexImage", "ShaderNodeMapping", "ShaderNodeUVMap")
    )
    node.image = image
    mapping.inputs["Scale"].default_value = (*options["uv_scale"], 1)
    mapping.inputs["Rotation"].default_value = (0, 0, options["uv_rotation"])
    mapping.inputs["Location"].default_value = (*options["uv_offset"], 0)
    tree.links.new(uv.outputs[0], mapping.inputs[0])
    tree.links.new(mapping.outputs[0], node.inputs[0])
    return node


def make_material(data, number, options):
    """Make a Principled BSDF with the values of an sdg material."""
    material = bpy.data.materials.new(f"material{number}")
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*options["base_color"], 1)
    shader.inputs["Roughness"].default_value = options["roughness"]
    shader.inputs["Metallic"].default_value = options["metallic"]
    shader.inputs["IOR"].default_value = options["ior"]
    shader.inputs["Specular IOR Level"].default_value = 0.5 * options["specular"]
    if options["texture"] is not None:
        node = texture_node(material.node_tree, data, options["texture"]["number"], options["texture"])
        material.node_tree.links.new(node.outputs[0], shader.inputs["Base Color"])
    return material


def make_body(scene, data, number, options, materials):
    """Make a mesh object with normals, uv and materials."""
    vertices, triangles = data[f"vertices{number}"], data[f"triangles{number}"]
    mesh = bpy.data.meshes.new(options["name"])
    mesh.from_pydata(vertices.tolist(), [], triangles.tolist())
    for material in options["materials"]:
        mesh.materials.append(materials[material])
    mesh.polygons.foreach_set("material_index", data[f"slots{number}"].astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(triangles), bool))
    layer = mesh.uv_layers.new()
    layer.data.foreach_set("uv", data[f"uvs{number}"][triangles.ravel()].astype(np.float32).ravel())
    mesh.normals_split_custom_set_from_vertices(data[f"normals{number}"].tolist())
    scene.collection.objects.link(bpy.data.objects.new(options["name"], mesh))


def make_light(scene, options):
    """Make an area light of the same radiance (flux = pi * area * radiance), or the world's light."""
    color, matrix = np.asarray(options["radiance"]), Matrix(options["object_to_world"])
    strength = float(color.max())
    if options["kind"] == "dome":
        world = bpy.data.worlds.new("world")
        world.use_nodes = True
        scene.world = world
        background = world.node_tree.nodes["Background"]
        background.inputs[0].default_value = (*(color / strength), 1)
        background.inputs[1].default_value = strength
        return
    light = bpy.data.lights.new("light", "AREA")
    light.shape, light.size, light.size_y = "RECTANGLE", options["width"], options["height"]
    light.energy = math.pi * options["width"] * options["height"] * strength
    light.color = color / strength
    holder = bpy.data.objects.new("light", light)
    holder.matrix_world = matrix
    holder.visible_camera = False
    scene.collection.objects.link(holder)


def make_scene(path):
    """Build the scene of an exchange file."""
    data = np.load(path)
    options = json.loads(str(data["options"]))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    materials = [make_material(data, number, material) for number, material in enumerate(options["materials"])]
    for number, body in enumerate(options["bodies"]):
        make_body(scene, data, number, body, materials)
    for light in options["lights"]:
        make_light(scene, light)
    lens = options["camera"]
    camera = bpy.data.cameras.new("camera")
    camera.sensor_fit, camera.angle_x = "HORIZONTAL", 2 * math.atan(lens["width"] / 2 / lens["fx"])
    holder = bpy.data.objects.new("camera", camera)
    holder.matrix_world = Matrix(lens["camera_to_world"]) @ Matrix.Diagonal((1, -1, -1, 1))
    scene.collection.objects.link(holder)
    scene.camera = holder
    scene.render.resolution_x, scene.render.resolution_y = lens["width"], lens["height"]
    scene.render.resolution_percentage = 100
    return scene


def configure(scene, request):
    """Set Cycles up as a request says."""
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = request["samples"]
    scene.cycles.use_adaptive_sampling = False
    scene.cycles.max_bounces = scene.cycles.diffuse_bounces = scene.cycles.glossy_bounces = request["max_bounces"]
    scene.cycles.sample_clamp_indirect = 0
    scene.cycles.use_denoising = request["denoise"] != "off"
    if scene.cycles.use_denoising:
        scene.cycles.denoiser = "OPENIMAGEDENOISE"
        scene.cycles.denoising_quality = request["denoise"].upper()
        scene.cycles.denoising_prefilter = request["prefilter"]
    scene.render.use_persistent_data = False  # the scene changes with every frame, on both sides
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.render.filter_size = 1.0
    scene.cycles.pixel_filter_type = "BOX"


def main():
    """Render every request and note its CPU time: the least of its repeats, the first (warm-up) one left out."""
    scene_path, requests_path, folder = sys.argv[1:4]
    scene = make_scene(scene_path)
    results = []
    with open(requests_path) as file:
        requests = json.load(file)
    for number, request in enumerate(requests):
        configure(scene, request)
        times = []
        for _ in range(request["repeats"] + (request["repeats"] > 1)):
            scene.render.filepath = f"{folder}/cycles{number}.exr"
            before = cpu()
            bpy.ops.render.render(write_still=True)
            times.append(cpu() - before)
        image = bpy.data.images.load(f"{folder}/cycles{number}.exr")
        pixels = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(pixels)
        pixels = pixels.reshape(image.size[1], image.size[0], -1)[::-1, :, :3]
        np.save(f"{folder}/cycles{number}.npy", pixels)
        bpy.data.images.remove(image)
        results.append({"cpu_s": min(times[1:] or times)})
        with open(f"{folder}/cycles.json", "w") as file:
            json.dump({"version": bpy.app.version_string, "results": results}, file)


main()
