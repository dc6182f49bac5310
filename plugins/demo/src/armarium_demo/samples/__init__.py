"""Sample pages drawn by this code: photographs of invented letters and deeds, with their ground truth."""

from armarium_demo.samples.pages import SampleDocument as SampleDocument
from armarium_demo.samples.pages import SampleLine as SampleLine
from armarium_demo.samples.pages import SamplePage as SamplePage
from armarium_demo.samples.pages import SampleRegion as SampleRegion
from armarium_demo.samples.pages import manuscript_page as manuscript_page
from armarium_demo.samples.pages import sample_documents as sample_documents
from armarium_demo.samples.pages import sample_pages as sample_pages
from armarium_demo.samples.pages import write_sample_pages as write_sample_pages
from armarium_demo.samples.pages import write_truth as write_truth
