"""The blocks of a bundle as authors write them: what their fields mean, and which of them are needed."""

from arena.packs.blocks.base import Block, plain
from arena.packs.blocks.bundle import (
    Bundle,
    Challenge,
    DeploymentDefaults,
    Identity,
    InterfaceSpec,
    Sandbox,
    Scenario,
    Version,
)
from arena.packs.blocks.cases import ArtifactRef, Asset, Case, CaseInput, InputSet, Item
from arena.packs.blocks.security import AdversarialPrompt, ForbiddenEgress, ForbiddenOutput, PlantedSecret, Security
from arena.packs.blocks.simulator import Arena, Calibration, Expectation, Phase, PostRun, Turn, UserSimulator

__all__ = [
    "AdversarialPrompt",
    "Arena",
    "ArtifactRef",
    "Asset",
    "Block",
    "Bundle",
    "Calibration",
    "Case",
    "CaseInput",
    "Challenge",
    "DeploymentDefaults",
    "Expectation",
    "ForbiddenEgress",
    "ForbiddenOutput",
    "Identity",
    "InputSet",
    "InterfaceSpec",
    "Item",
    "Phase",
    "PlantedSecret",
    "PostRun",
    "Sandbox",
    "Scenario",
    "Security",
    "Turn",
    "UserSimulator",
    "Version",
    "plain",
]
